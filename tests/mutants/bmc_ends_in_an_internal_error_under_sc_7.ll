; checks: memory,race
; tests/programs/correct/copy_to_one_of_two.c with [Mutation { kind: AtomicBlock, seed: 8632209307422871798 }]
; bmc under sc: internal error: an execution that was found could not be run: a thread that was not started at Block of thread 1
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%struct.anon = type { i32, i32 }
%union.pthread_attr_t = type { i64, [48 x i8] }
@one = internal global i64 0, align 8
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %t = alloca i64, align 8
  %value = alloca [8 x i8], align 1
  call void @__VERIFIER_atomic_begin()
  %call = call i32 @pthread_create(i64* noundef %t, %union.pthread_attr_t* noundef null, i8* (i8*)* noundef @store, i8* noundef null)
  %arraydecay = getelementptr inbounds [8 x i8], [8 x i8]* %value, i64 0, i64 0
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 1 %arraydecay, i8* align 8 bitcast (i64* @one to i8*), i64 8, i1 false)
  br label %if.then
if.then:
  br label %if.end
if.end:
  ret i32 0
}
declare i32 @pthread_create(i64* noundef, %union.pthread_attr_t* noundef, i8* (i8*)* noundef, i8* noundef)
define internal i8* @store(i8* noundef %arg) {
entry:
  %arg.addr = alloca i8*, align 8
  %value = alloca i64, align 8
  %to = alloca i8*, align 8
  store i8* bitcast (i64* @one to i8*), i8** %to, align 8
  br label %if.then
if.then:
  br label %if.end
if.end:
  %v0 = load i8*, i8** %to, align 8
  %v1 = bitcast i64* %value to i8*
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 1 %v0, i8* align 8 %v1, i64 8, i1 false)
  %v2 = load i8*, i8** %arg.addr, align 8
  ret i8* %v2
}
declare void @llvm.memcpy.p0i8.p0i8.i64(i8* noalias nocapture writeonly, i8* noalias nocapture readonly, i64, i1 immarg)
declare void @__VERIFIER_atomic_begin()

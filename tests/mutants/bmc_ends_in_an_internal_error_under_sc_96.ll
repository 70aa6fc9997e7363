; checks: all
; tests/programs/wrong/abort.c with [Mutation { kind: Branch, seed: 5879074760528422861 }, Mutation { kind: AtomicBlock, seed: 9920784395476435447 }]
; bmc under sc: internal error: an execution that was found could not be run: a thread that was not started at Update of thread 1
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%union.pthread_attr_t = type { i64, [48 x i8] }
@arrived = internal global i32 0, align 4
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %t = alloca i64, align 8
  call void @__VERIFIER_atomic_begin()
  %call = call i32 @pthread_create(i64* noundef %t, %union.pthread_attr_t* noundef null, i8* (i8*)* noundef @arrive, i8* noundef null)
  %call1 = call i8* @arrive(i8* noundef null)
  br label %m0.then
m0.then:
  br label %m0.join
m0.join:
  ret i32 0
}
declare i32 @pthread_create(i64* noundef, %union.pthread_attr_t* noundef, i8* (i8*)* noundef, i8* noundef)
define internal i8* @arrive(i8* noundef %arg) {
entry:
  %arg.addr = alloca i8*, align 8
  %.atomictmp = alloca i32, align 4
  %atomic-temp = alloca i32, align 4
  store i32 1, i32* %.atomictmp, align 4
  %v1 = load i32, i32* %.atomictmp, align 4
  %v2 = atomicrmw add i32* @arrived, i32 %v1 seq_cst, align 4
  store i32 %v2, i32* %atomic-temp, align 4
  %v3 = load i32, i32* %atomic-temp, align 4
  %cmp = icmp eq i32 %v3, 1
  br i1 %cmp, label %if.then, label %if.end
if.then:
  unreachable
if.end:
  ret i8* null
}
declare void @__VERIFIER_atomic_begin()

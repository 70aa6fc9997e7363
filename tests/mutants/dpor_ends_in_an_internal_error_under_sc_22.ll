; checks: memory,race
; tests/programs/correct/mutex_counter.c with [Mutation { kind: Branch, seed: 15358830734547499350 }, Mutation { kind: AtomicBlock, seed: 5227230725335000124 }]
; dpor under sc: internal error: a violation was not reproduced (NotReady { step: 5, thread: T0 } after 6 events): Fault(Misuse { misuse: JoinUnknown, object: None, thread: Some(T1) })
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%union.pthread_mutex_t = type { %struct.__pthread_mutex_s }
%struct.__pthread_mutex_s = type { i32, i32, i32, i32, i32, i16, i16, %struct.__pthread_internal_list }
%struct.__pthread_internal_list = type { %struct.__pthread_internal_list*, %struct.__pthread_internal_list* }
%union.pthread_attr_t = type { i64, [48 x i8] }
@counter = internal global i32 0, align 4
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %a = alloca i64, align 8
  %b = alloca i64, align 8
  %call = call i32 @pthread_create(i64* noundef %a, %union.pthread_attr_t* noundef null, i8* (i8*)* noundef @count, i8* noundef null)
  %call1 = call i32 @pthread_create(i64* noundef %b, %union.pthread_attr_t* noundef null, i8* (i8*)* noundef @count, i8* noundef null)
  call void @__VERIFIER_atomic_begin()
  %v0 = load i64, i64* %a, align 8
  %call2 = call i32 @pthread_join(i64 noundef %v0, i8** noundef null)
  %v1 = load i64, i64* %b, align 8
  %call3 = call i32 @pthread_join(i64 noundef %v1, i8** noundef null)
  call void @__VERIFIER_atomic_end()
  %v2 = load i32, i32* @counter, align 4
  %cmp = icmp eq i32 %v2, 2
  br label %if.then
if.then:
  br label %if.end
if.end:
  ret i32 0
}
declare i32 @pthread_create(i64* noundef, %union.pthread_attr_t* noundef, i8* (i8*)* noundef, i8* noundef)
define internal i8* @count(i8* noundef %arg) {
entry:
  %arg.addr = alloca i8*, align 8
  %m0.is = call i1 @__VERIFIER_nondet_bool()
  br label %m0.then
m0.then:
  br label %m0.join
m0.join:
  ret i8* null
}
declare i32 @pthread_join(i64 noundef, i8** noundef)
declare i1 @__VERIFIER_nondet_bool()
declare void @__VERIFIER_atomic_begin()
declare void @__VERIFIER_atomic_end()

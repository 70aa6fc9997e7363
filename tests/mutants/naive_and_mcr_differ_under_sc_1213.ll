; checks: but-races
; tests/programs/wrong/destroy_semaphore.c with [Mutation { kind: AtomicBlock, seed: 10391215534800629982 }, Mutation { kind: Branch, seed: 8547175281867736915 }]
; naive: Violation({"misuse"}), mcr: Verified under sc
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%union.sem_t = type { i64, [24 x i8] }
%union.pthread_attr_t = type { i64, [48 x i8] }
@done = internal global %union.sem_t zeroinitializer, align 8
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %t = alloca i64, align 8
  %call1 = call i32 @pthread_create(i64* noundef %t, %union.pthread_attr_t* noundef null, i8* (i8*)* noundef @work, i8* noundef null)
  call void @__VERIFIER_atomic_begin()
  %call2 = call i32 @sem_wait(%union.sem_t* noundef @done)
  %call3 = call i32 @sem_destroy(%union.sem_t* noundef @done)
  %v0 = load i64, i64* %t, align 8
  %call4 = call i32 @pthread_join(i64 noundef %v0, i8** noundef null)
  br label %m1.then
m1.then:
  br label %m1.join
m1.join:
  ret i32 0
}
declare i32 @pthread_create(i64* noundef, %union.pthread_attr_t* noundef, i8* (i8*)* noundef, i8* noundef)
define internal i8* @work(i8* noundef %arg) {
entry:
  %arg.addr = alloca i8*, align 8
  %value = alloca i32, align 4
  %call = call i32 @sem_post(%union.sem_t* noundef @done)
  %call1 = call i32 @sem_getvalue(%union.sem_t* noundef @done, i32* noundef %value)
  %v0 = load i8*, i8** %arg.addr, align 8
  ret i8* %v0
}
declare i32 @sem_wait(%union.sem_t* noundef)
declare i32 @sem_destroy(%union.sem_t* noundef)
declare i32 @pthread_join(i64 noundef, i8** noundef)
declare i32 @sem_post(%union.sem_t* noundef)
declare i32 @sem_getvalue(%union.sem_t* noundef, i32* noundef)
declare void @__VERIFIER_atomic_begin()

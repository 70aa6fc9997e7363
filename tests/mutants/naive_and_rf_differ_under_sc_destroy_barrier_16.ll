; checks: all
; mutant 16 of wrong/destroy_barrier.c: [Mutation { kind: Copy, seed: 18183015424813887341 }, Mutation { kind: Swap, seed: 509559131128544046 }]
; naive: Violation({"deadlock"}), rf: Verified under sc
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%union.pthread_barrier_t = type { i64, [24 x i8] }
@barrier = internal global %union.pthread_barrier_t zeroinitializer, align 8
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %t = alloca i64, align 8
  %call = call i32 @pthread_barrier_init(ptr noundef @barrier, ptr noundef null, i32 noundef 2)
  %call1 = call i32 @pthread_create(ptr noundef %t, ptr noundef null, ptr noundef @work, ptr noundef null)
  %call2 = call i32 @pthread_barrier_wait(ptr noundef @barrier)
  %m0.call = call i32 @pthread_barrier_init(ptr noundef @barrier, ptr noundef null, i32 noundef 2)
  ret i32 0
}
declare i32 @pthread_barrier_init(ptr noundef, ptr noundef, i32 noundef)
declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef)
define internal ptr @work(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  %call = call i32 @pthread_barrier_wait(ptr noundef @barrier)
  %v0 = load ptr, ptr %arg.addr, align 8
  ret ptr %v0
}
declare i32 @pthread_barrier_wait(ptr noundef)

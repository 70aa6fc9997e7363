; checks: all
; mutant 27 of wrong/race_before_wait_without_mutex.c: [Mutation { kind: Branch, seed: 7106932915094869168 }]
; graph: Violation({"race"}), bmc: Violation({"misuse"}) under sc
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%union.pthread_mutex_t = type { %struct.__pthread_mutex_s }
%struct.__pthread_mutex_s = type { i32, i32, i32, i32, i32, i16, i16, %struct.__pthread_internal_list }
%struct.__pthread_internal_list = type { ptr, ptr }
%union.pthread_cond_t = type { %struct.__pthread_cond_s }
%struct.__pthread_cond_s = type { %union.__atomic_wide_counter, %union.__atomic_wide_counter, [2 x i32], [2 x i32], i32, i32, [2 x i32] }
%union.__atomic_wide_counter = type { i64 }
@mutex = dso_local global %union.pthread_mutex_t zeroinitializer, align 8
@condition = dso_local global %union.pthread_cond_t zeroinitializer, align 8
@ready = dso_local global i32 0, align 4
define dso_local ptr @wait_for_it(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  br label %while.cond
while.cond:
  %v0 = load i32, ptr @ready, align 4
  %tobool = icmp ne i32 %v0, 0
  %lnot = xor i1 %tobool, true
  br i1 %lnot, label %while.body, label %while.end
while.body:
  %call = call i32 @pthread_cond_wait(ptr noundef @condition, ptr noundef @mutex)
  br label %while.cond
while.end:
  ret ptr null
}
declare i32 @pthread_cond_wait(ptr noundef, ptr noundef)
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %thread = alloca i64, align 8
  %call = call i32 @pthread_create(ptr noundef %thread, ptr noundef null, ptr noundef @wait_for_it, ptr noundef null)
  %call1 = call i32 @pthread_mutex_lock(ptr noundef @mutex)
  store i32 1, ptr @ready, align 4
  %m0.value = load atomic i32, ptr @ready seq_cst, align 4
  %m0.is = icmp eq i32 %m0.value, 1
  br i1 %m0.is, label %m0.then, label %m0.join
m0.then:
  %call3 = call i32 @pthread_mutex_unlock(ptr noundef @mutex)
  br label %m0.join
m0.join:
  ret i32 0
}
declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef)
declare i32 @pthread_mutex_lock(ptr noundef)
declare i32 @pthread_mutex_unlock(ptr noundef)

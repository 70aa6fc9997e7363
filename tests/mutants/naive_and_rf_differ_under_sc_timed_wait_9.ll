; checks: memory,race
; mutant 9 of library/timed_wait.c: [Mutation { kind: Copy, seed: 473555774147803256 }]
; naive: Violation({"misuse", "race"}), rf: Violation({"misuse"}) under sc
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%union.pthread_mutex_t = type { %struct.__pthread_mutex_s }
%struct.__pthread_mutex_s = type { i32, i32, i32, i32, i32, i16, i16, %struct.__pthread_internal_list }
%struct.__pthread_internal_list = type { ptr, ptr }
%union.pthread_cond_t = type { %struct.__pthread_cond_s }
%struct.__pthread_cond_s = type { %union.__atomic_wide_counter, %union.__atomic_wide_counter, [2 x i32], [2 x i32], i32, i32, [2 x i32] }
%union.__atomic_wide_counter = type { i64 }
%struct.timespec = type { i64, i64 }
@m = internal global %union.pthread_mutex_t zeroinitializer, align 8
@ready = internal global i32 0, align 4
@c = internal global %union.pthread_cond_t zeroinitializer, align 8
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %t = alloca i64, align 8
  %call = call i32 @pthread_create(ptr noundef %t, ptr noundef null, ptr noundef @wait_for_a_while, ptr noundef null)
  %call1 = call i32 @pthread_mutex_lock(ptr noundef @m)
  store i32 1, ptr @ready, align 4
  br label %if.then
if.then:
  br label %if.end
if.end:
  ret i32 0
}
declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef)
define internal ptr @wait_for_a_while(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  %soon = alloca %struct.timespec, align 8
  %result = alloca i32, align 4
  %call = call i32 @pthread_mutex_lock(ptr noundef @m)
  %m0.call3 = call i32 @pthread_mutex_unlock(ptr noundef @m)
  %v0 = load i32, ptr @ready, align 4
  %tobool = icmp ne i32 %v0, 0
  br label %if.then
if.then:
  %call1 = call i32 @pthread_cond_timedwait(ptr noundef @c, ptr noundef @m, ptr noundef %soon)
  store i32 %call1, ptr %result, align 4
  br label %if.then3
if.then3:
  br label %if.end
if.end:
  br label %if.then9
if.then9:
  br label %if.end11
if.end11:
  br label %if.end12
if.end12:
  %v6 = load ptr, ptr %arg.addr, align 8
  ret ptr %v6
}
declare i32 @pthread_mutex_lock(ptr noundef)
declare i32 @pthread_mutex_unlock(ptr noundef)
declare i32 @pthread_cond_timedwait(ptr noundef, ptr noundef, ptr noundef)

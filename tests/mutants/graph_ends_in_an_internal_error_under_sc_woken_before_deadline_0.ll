; checks: all
; mutant 0 of wrong/woken_before_deadline.c: [Mutation { kind: CriticalSection, seed: 3237726598240878610 }, Mutation { kind: Branch, seed: 14173820020420027076 }]
; graph under sc: internal error: a violation was not reproduced (NoRace after 6 events): Race(RaceInfo { first: RaceAccess { thread: T0, state: s3, at: src2, step: 2 }, second: RaceAccess { thread: T1, state: s5, at: src1, step: 5 } })
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%struct.timespec = type { i64, i64 }
%union.pthread_mutex_t = type { %struct.__pthread_mutex_s }
%struct.__pthread_mutex_s = type { i32, i32, i32, i32, i32, i16, i16, %struct.__pthread_internal_list }
%struct.__pthread_internal_list = type { ptr, ptr }
%union.pthread_cond_t = type { %struct.__pthread_cond_s }
%struct.__pthread_cond_s = type { %union.__atomic_wide_counter, %union.__atomic_wide_counter, [2 x i32], [2 x i32], i32, i32, [2 x i32] }
%union.__atomic_wide_counter = type { i64 }
@m = internal global %union.pthread_mutex_t zeroinitializer, align 8
@ready = internal global i32 0, align 4
@c = internal global %union.pthread_cond_t zeroinitializer, align 8
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %soon = alloca %struct.timespec, align 8
  %t = alloca i64, align 8
  %call = call i32 @pthread_create(ptr noundef %t, ptr noundef null, ptr noundef @set, ptr noundef null)
  br label %m1.then
m1.then:
  br label %m1.join
m1.join:
  %v0 = load i32, ptr @ready, align 4
  %tobool = icmp ne i32 %v0, 0
  br label %land.lhs.true
land.lhs.true:
  %call2 = call i32 @pthread_cond_timedwait(ptr noundef @c, ptr noundef @m, ptr noundef %soon)
  %cmp = icmp eq i32 %call2, 0
  br label %if.then
if.then:
  br label %if.then4
if.then4:
  br label %if.end
if.end:
  br label %if.end5
if.end5:
  ret i32 0
}
declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef)
define internal ptr @set(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  %call = call i32 @pthread_mutex_lock(ptr noundef @m)
  store i32 1, ptr @ready, align 4
  %v0 = load ptr, ptr %arg.addr, align 8
  ret ptr %v0
}
declare i32 @pthread_mutex_lock(ptr noundef)
declare i32 @pthread_cond_timedwait(ptr noundef, ptr noundef, ptr noundef)

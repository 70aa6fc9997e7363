; checks: but-races
; mutant 0 of wrong/freed_condition_that_is_waited_for.c: []
; graph under tso: internal error: a violation was not reproduced (NotReady { step: 4, thread: T1 } after 5 events): Fault(UseAfterFree { access: Update, object: o3, offset: 0 })
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%struct.gate = type { %union.pthread_mutex_t, %union.pthread_cond_t, i32 }
%union.pthread_mutex_t = type { %struct.__pthread_mutex_s }
%struct.__pthread_mutex_s = type { i32, i32, i32, i32, i32, i16, i16, %struct.__pthread_internal_list }
%struct.__pthread_internal_list = type { ptr, ptr }
%union.pthread_cond_t = type { %struct.__pthread_cond_s }
%struct.__pthread_cond_s = type { %union.__atomic_wide_counter, %union.__atomic_wide_counter, [2 x i32], [2 x i32], i32, i32, [2 x i32] }
%union.__atomic_wide_counter = type { i64 }
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %gate = alloca ptr, align 8
  %thread = alloca i64, align 8
  %call = call noalias ptr @calloc(i64 noundef 1, i64 noundef 96)
  store ptr %call, ptr %gate, align 8
  %v0 = load ptr, ptr %gate, align 8
  %call1 = call i32 @pthread_create(ptr noundef %thread, ptr noundef null, ptr noundef @work, ptr noundef %v0)
  %v1 = load ptr, ptr %gate, align 8
  %mutex = getelementptr inbounds %struct.gate, ptr %v1, i32 0, i32 0
  %call2 = call i32 @pthread_mutex_lock(ptr noundef %mutex)
  %v2 = load ptr, ptr %gate, align 8
  %is_open = getelementptr inbounds %struct.gate, ptr %v2, i32 0, i32 2
  store i32 1, ptr %is_open, align 8
  %v4 = load ptr, ptr %gate, align 8
  %mutex4 = getelementptr inbounds %struct.gate, ptr %v4, i32 0, i32 0
  %call5 = call i32 @pthread_mutex_unlock(ptr noundef %mutex4)
  %v5 = load ptr, ptr %gate, align 8
  call void @free(ptr noundef %v5)
  ret i32 0
}
declare noalias ptr @calloc(i64 noundef, i64 noundef)
declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef)
define internal ptr @work(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  %gate = alloca ptr, align 8
  store ptr %arg, ptr %arg.addr, align 8
  %v0 = load ptr, ptr %arg.addr, align 8
  store ptr %v0, ptr %gate, align 8
  br label %while.cond
while.cond:
  %v2 = load ptr, ptr %gate, align 8
  %is_open = getelementptr inbounds %struct.gate, ptr %v2, i32 0, i32 2
  %v3 = load i32, ptr %is_open, align 8
  %tobool = icmp ne i32 %v3, 0
  %lnot = xor i1 %tobool, true
  br label %while.body
while.body:
  br label %while.cond
}
declare i32 @pthread_mutex_lock(ptr noundef)
declare i32 @pthread_mutex_unlock(ptr noundef)
declare void @free(ptr noundef)

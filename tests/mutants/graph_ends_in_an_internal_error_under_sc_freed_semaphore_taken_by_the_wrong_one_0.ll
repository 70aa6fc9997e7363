; checks: all
; mutant 0 of wrong/freed_semaphore_taken_by_the_wrong_one.c: []
; graph under sc: internal error: a violation was not reproduced (NotReady { step: 6, thread: T1 } after 9 events): Race(RaceInfo { first: RaceAccess { thread: T2, state: s4, at: src2, step: 5 }, second: RaceAccess { thread: T0, state: s9, at: src1, step: 8 } })
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %semaphore = alloca ptr, align 8
  %one = alloca i64, align 8
  %two = alloca i64, align 8
  %call = call noalias ptr @malloc(i64 noundef 32)
  store ptr %call, ptr %semaphore, align 8
  %v1 = load ptr, ptr %semaphore, align 8
  %call2 = call i32 @pthread_create(ptr noundef %one, ptr noundef null, ptr noundef @work, ptr noundef %v1)
  %v2 = load ptr, ptr %semaphore, align 8
  %call3 = call i32 @pthread_create(ptr noundef %two, ptr noundef null, ptr noundef @work, ptr noundef %v2)
  %v3 = load ptr, ptr %semaphore, align 8
  %call4 = call i32 @sem_post(ptr noundef %v3)
  %v4 = load i64, ptr %one, align 8
  %call5 = call i32 @pthread_join(i64 noundef %v4, ptr noundef null)
  %v5 = load ptr, ptr %semaphore, align 8
  call void @free(ptr noundef %v5)
  ret i32 0
}
declare noalias ptr @malloc(i64 noundef)
declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef)
define internal ptr @work(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  store ptr %arg, ptr %arg.addr, align 8
  %v0 = load ptr, ptr %arg.addr, align 8
  %call = call i32 @sem_wait(ptr noundef %v0)
  ret ptr null
}
declare i32 @sem_post(ptr noundef)
declare i32 @pthread_join(i64 noundef, ptr noundef)
declare void @free(ptr noundef)
declare i32 @sem_wait(ptr noundef)

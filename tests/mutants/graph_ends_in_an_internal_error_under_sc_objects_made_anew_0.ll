; checks: all
; mutant 0 of correct/objects_made_anew.c: [Mutation { kind: Branch, seed: 5997881538134793564 }]
; graph under sc: internal error: a violation was not reproduced (NotReady { step: 83, thread: T3 } after 85 events): Fault(UseAfterFree { access: Update, object: o3, offset: 48 })
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%union.pthread_cond_t = type { %struct.__pthread_cond_s }
%struct.__pthread_cond_s = type { %union.__atomic_wide_counter, %union.__atomic_wide_counter, [2 x i32], [2 x i32], i32, i32, [2 x i32] }
%union.__atomic_wide_counter = type { i64 }
%union.pthread_rwlock_t = type { %struct.__pthread_rwlock_arch_t }
%struct.__pthread_rwlock_arch_t = type { i32, i32, i32, i32, i32, i32, i32, i32, i8, [7 x i8], i64, i32 }
%struct.node = type { %union.pthread_cond_t, %union.pthread_rwlock_t }
define dso_local i32 @main() {
entry:
  %thread = alloca i64, align 8
  %call = call i32 @pthread_create(ptr noundef %thread, ptr noundef null, ptr noundef @maker, ptr noundef null)
  ret i32 0
}
declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef)
define internal ptr @maker(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  %node = alloca ptr, align 8
  %round = alloca i32, align 4
  %.compoundliteral = alloca %union.pthread_cond_t, align 8
  %.compoundliteral5 = alloca %union.pthread_rwlock_t, align 8
  %thread = alloca i64, align 8
  %call = call noalias ptr @malloc(i64 noundef 104)
  store ptr %call, ptr %node, align 8
  br label %for.cond
for.cond:
  %v0 = load i32, ptr %round, align 4
  %cmp = icmp slt i32 %v0, 2
  br i1 %cmp, label %for.body, label %for.end
for.body:
  %v3 = load ptr, ptr %node, align 8
  %call13 = call i32 @pthread_create(ptr noundef %thread, ptr noundef null, ptr noundef @user, ptr noundef %v3)
  br label %m0.then
m0.then:
  br label %m0.join
m0.join:
  br label %for.inc
for.inc:
  %v7 = load i32, ptr %round, align 4
  %inc = add nsw i32 %v7, 1
  store i32 %inc, ptr %round, align 4
  br label %for.cond
for.end:
  %v8 = load ptr, ptr %node, align 8
  call void @free(ptr noundef %v8)
  %v9 = load ptr, ptr %arg.addr, align 8
  ret ptr %v9
}
declare noalias ptr @malloc(i64 noundef)
define internal ptr @user(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  %node = alloca ptr, align 8
  store ptr %arg, ptr %arg.addr, align 8
  %v0 = load ptr, ptr %arg.addr, align 8
  store ptr %v0, ptr %node, align 8
  %v3 = load ptr, ptr %node, align 8
  %lock2 = getelementptr inbounds %struct.node, ptr %v3, i32 0, i32 1
  %call3 = call i32 @pthread_rwlock_unlock(ptr noundef %lock2)
  ret ptr null
}
declare i32 @pthread_rwlock_unlock(ptr noundef)
declare void @free(ptr noundef)

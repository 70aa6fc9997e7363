; checks: but-races
; mutant 7 of correct/unwritten_list.c: [Mutation { kind: Copy, seed: 1223419620883596690 }, Mutation { kind: AtomicBlock, seed: 4225030414606844806 }, Mutation { kind: Copy, seed: 6806195972167118047 }]
; bmc under sc: internal error: an execution that was found could not be run: a thread that was not started at Lock of thread 1
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%union.pthread_mutex_t = type { %struct.__pthread_mutex_s }
%struct.__pthread_mutex_s = type { i32, i32, i32, i32, i32, i16, i16, %struct.__pthread_internal_list }
%struct.__pthread_internal_list = type { ptr, ptr }
%struct.node = type { ptr, i32, i32 }
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %threads = alloca [2 x i64], align 16
  %at = alloca i32, align 4
  %length = alloca i32, align 4
  %large = alloca i32, align 4
  %node = alloca ptr, align 8
  %at13 = alloca i32, align 4
  call void @__VERIFIER_atomic_begin()
  call void @__VERIFIER_atomic_end()
  br label %for.cond
for.cond:
  br label %for.body
for.body:
  call void @__VERIFIER_atomic_begin()
  %v1 = load i32, ptr %at, align 4
  %idxprom = sext i32 %v1 to i64
  %arrayidx = getelementptr inbounds [2 x i64], ptr %threads, i64 0, i64 %idxprom
  %call = call i32 @pthread_create(ptr noundef %arrayidx, ptr noundef null, ptr noundef @push, ptr noundef null)
  br label %for.inc
for.inc:
  %v2 = load i32, ptr %at, align 4
  %inc = add nsw i32 %v2, 1
  store i32 %inc, ptr %at, align 4
  br label %for.cond
}
declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef)
define internal ptr @push(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  %node = alloca ptr, align 8
  %v4 = load ptr, ptr %arg.addr, align 8
  ret ptr %v4
}
declare void @__VERIFIER_atomic_begin()
declare void @__VERIFIER_atomic_end()

; checks: but-races
; mutant 22 of wrong/choice_in_block_behind_a_read.c: [Mutation { kind: Double, seed: 7813896116714221050 }, Mutation { kind: Drop, seed: 18328360635152820832 }, Mutation { kind: Double, seed: 1412728234827740065 }]
; naive: {"error-reached"} under sc, graph: verified under c11
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
@value = dso_local global i32 0, align 4
define dso_local ptr @perhaps(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  call void @__VERIFIER_atomic_begin()
  br label %land.lhs.true
land.lhs.true:
  br label %if.then
if.then:
  store atomic i32 2, ptr @value seq_cst, align 4
  br label %if.end
if.end:
  ret ptr null
}
declare void @__VERIFIER_atomic_begin()
declare void @__VERIFIER_atomic_end()
define dso_local ptr @count(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  %v0 = atomicrmw add ptr @value, i32 1 seq_cst, align 4
  ret ptr null
}
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %threads = alloca [2 x i64], align 16
  %arrayidx = getelementptr inbounds [2 x i64], ptr %threads, i64 0, i64 0
  %call = call i32 @pthread_create(ptr noundef %arrayidx, ptr noundef null, ptr noundef @perhaps, ptr noundef null)
  %arrayidx1 = getelementptr inbounds [2 x i64], ptr %threads, i64 0, i64 1
  %call2 = call i32 @pthread_create(ptr noundef %arrayidx1, ptr noundef null, ptr noundef @count, ptr noundef null)
  call void @__VERIFIER_atomic_begin()
  %atomic-load = load atomic i32, ptr @value seq_cst, align 4
  %cmp = icmp eq i32 %atomic-load, 3
  br i1 %cmp, label %if.then, label %if.end
if.then:
  call void @reach_error()
  br label %if.end
if.end:
  call void @__VERIFIER_atomic_end()
  ret i32 0
}
declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef)
declare void @reach_error()

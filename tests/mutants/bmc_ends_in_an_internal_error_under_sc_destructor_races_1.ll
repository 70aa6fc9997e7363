; checks: but-races
; mutant 1 of library/destructor_races.c: [Mutation { kind: Copy, seed: 15208393877081770581 }]
; bmc under sc: internal error: an execution that was found could not be run: a thread cannot go on at Store of thread 0
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
@key = internal global i32 0, align 4
@destroyed = internal global i32 0, align 4
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %other = alloca i64, align 8
  %threads = alloca [2 x i64], align 16
  %by = alloca [2 x i32], align 4
  %i = alloca i32, align 4
  %i5 = alloca i32, align 4
  %m0.call1 = call i32 @pthread_key_create(ptr noundef @key, ptr noundef @destroy)
  %call = call i32 @pthread_create(ptr noundef %other, ptr noundef null, ptr noundef @nothing, ptr noundef null)
  %call1 = call i32 @pthread_key_create(ptr noundef @key, ptr noundef @destroy)
  br label %for.cond
for.cond:
  %v0 = load i32, ptr %i, align 4
  %cmp = icmp slt i32 %v0, 2
  br i1 %cmp, label %for.body, label %for.end
for.body:
  %v1 = load i32, ptr %i, align 4
  %idxprom = sext i32 %v1 to i64
  %arrayidx = getelementptr inbounds [2 x i64], ptr %threads, i64 0, i64 %idxprom
  %v2 = load i32, ptr %i, align 4
  %idxprom2 = sext i32 %v2 to i64
  %arrayidx3 = getelementptr inbounds [2 x i32], ptr %by, i64 0, i64 %idxprom2
  %call4 = call i32 @pthread_create(ptr noundef %arrayidx, ptr noundef null, ptr noundef @work, ptr noundef %arrayidx3)
  br label %for.inc
for.inc:
  %v3 = load i32, ptr %i, align 4
  %inc = add nsw i32 %v3, 1
  store i32 %inc, ptr %i, align 4
  br label %for.cond
for.end:
  br label %for.cond6
for.cond6:
  br label %for.body8
for.body8:
  br label %for.inc12
for.inc12:
  br label %for.cond6
}
declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef)
define internal ptr @nothing(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  %v0 = load ptr, ptr %arg.addr, align 8
  ret ptr %v0
}
declare i32 @pthread_key_create(ptr noundef, ptr noundef)
define internal void @destroy(ptr noundef %value) {
entry:
  %value.addr = alloca ptr, align 8
  %v0 = load ptr, ptr %value.addr, align 8
  %v1 = load i32, ptr %v0, align 4
  %v2 = load i32, ptr @destroyed, align 4
  %add = add nsw i32 %v2, %v1
  store i32 %add, ptr @destroyed, align 4
  ret void
}
define internal ptr @work(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  store ptr %arg, ptr %arg.addr, align 8
  %v0 = load i32, ptr @key, align 4
  %v1 = load ptr, ptr %arg.addr, align 8
  %call = call i32 @pthread_setspecific(i32 noundef %v0, ptr noundef %v1)
  ret ptr null
}
declare i32 @pthread_setspecific(i32 noundef, ptr noundef)

; checks: but-races
; tests/programs/library/destructor_races.c with [Mutation { kind: Copy, seed: 14088766019400545156 }, Mutation { kind: AtomicBlock, seed: 1326545267623088015 }]
; dpor under sc: internal error: a violation was not reproduced (NotReady { step: 27, thread: T0 } after 28 events): Fault(Misuse { misuse: JoinUnknown, object: None, thread: Some(T3) })
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%union.pthread_attr_t = type { i64, [48 x i8] }
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
  br label %for.cond
for.cond:
  %v1 = load i32, i32* %i, align 4
  %cmp = icmp slt i32 %v1, 2
  br i1 %cmp, label %for.body, label %for.end
for.body:
  %m0.call1 = call i32 @pthread_key_create(i32* noundef @key, void (i8*)* noundef @destroy)
  %v2 = load i32, i32* %i, align 4
  %idxprom = sext i32 %v2 to i64
  %arrayidx = getelementptr inbounds [2 x i64], [2 x i64]* %threads, i64 0, i64 %idxprom
  %v3 = load i32, i32* %i, align 4
  %idxprom2 = sext i32 %v3 to i64
  %arrayidx3 = getelementptr inbounds [2 x i32], [2 x i32]* %by, i64 0, i64 %idxprom2
  %v4 = bitcast i32* %arrayidx3 to i8*
  %call4 = call i32 @pthread_create(i64* noundef %arrayidx, %union.pthread_attr_t* noundef null, i8* (i8*)* noundef @work, i8* noundef %v4)
  br label %for.inc
for.inc:
  %v5 = load i32, i32* %i, align 4
  %inc = add nsw i32 %v5, 1
  store i32 %inc, i32* %i, align 4
  br label %for.cond
for.end:
  br label %for.cond6
for.cond6:
  br label %for.body8
for.body8:
  call void @__VERIFIER_atomic_begin()
  %v7 = load i32, i32* %i5, align 4
  %idxprom9 = sext i32 %v7 to i64
  %arrayidx10 = getelementptr inbounds [2 x i64], [2 x i64]* %threads, i64 0, i64 %idxprom9
  %v8 = load i64, i64* %arrayidx10, align 8
  %call11 = call i32 @pthread_join(i64 noundef %v8, i8** noundef null)
  call void @__VERIFIER_atomic_end()
  br label %for.inc12
for.inc12:
  %v9 = load i32, i32* %i5, align 4
  %inc13 = add nsw i32 %v9, 1
  store i32 %inc13, i32* %i5, align 4
  br label %for.cond6
}
declare i32 @pthread_create(i64* noundef, %union.pthread_attr_t* noundef, i8* (i8*)* noundef, i8* noundef)
declare i32 @pthread_key_create(i32* noundef, void (i8*)* noundef)
define internal void @destroy(i8* noundef %value) {
entry:
  %value.addr = alloca i8*, align 8
  store i8* %value, i8** %value.addr, align 8
  %v0 = load i8*, i8** %value.addr, align 8
  %v1 = bitcast i8* %v0 to i32*
  %v2 = load i32, i32* %v1, align 4
  %v3 = load i32, i32* @destroyed, align 4
  %add = add nsw i32 %v3, %v2
  store i32 %add, i32* @destroyed, align 4
  ret void
}
define internal i8* @work(i8* noundef %arg) {
entry:
  %arg.addr = alloca i8*, align 8
  store i8* %arg, i8** %arg.addr, align 8
  %v0 = load i32, i32* @key, align 4
  %v1 = load i8*, i8** %arg.addr, align 8
  %call = call i32 @pthread_setspecific(i32 noundef %v0, i8* noundef %v1)
  ret i8* null
}
declare i32 @pthread_join(i64 noundef, i8** noundef)
declare i32 @pthread_setspecific(i32 noundef, i8* noundef)
declare void @__VERIFIER_atomic_begin()
declare void @__VERIFIER_atomic_end()

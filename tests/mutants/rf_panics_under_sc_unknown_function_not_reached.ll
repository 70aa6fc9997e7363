; checks: but-races
; tests/programs/other/unknown_function_not_reached.c with [Mutation { kind: Number, seed: 410137311226925800 }, Mutation { kind: CriticalSection, seed: 2241785094971570143 }, Mutation { kind: AtomicBlock, seed: 16003851449413118999 }, Mutation { kind: Branch, seed: 5513975643141141953 }]
; rf under sc: range start index 48 out of range for slice of length 28
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
@never = internal global i32 0, align 4
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %v0 = load volatile i32, ptr @never, align 4
  %tobool = icmp eq i32 %v0, 0
  br i1 %tobool, label %cond.true, label %cond.false
cond.true:
  call void @__VERIFIER_atomic_begin()
  %m3.is = call i1 @__VERIFIER_nondet_bool()
  br i1 %m3.is, label %m3.then, label %m3.join
m3.then:
  %m1.lock = call i32 @pthread_mutex_lock(ptr noundef @raddle.mutex)
  br label %m3.join
m3.join:
  %call = call i32 @mystery(i32 noundef 1)
  br label %cond.end
cond.false:
  br label %cond.end
cond.end:
  %cond = phi i32 [ %call, %m3.join ], [ 0, %cond.false ]
  ret i32 %cond
}
declare i32 @mystery(i32 noundef)
@raddle.mutex = internal global [40 x i8] zeroinitializer, align 8
declare i32 @pthread_mutex_lock(ptr noundef)
declare void @__VERIFIER_atomic_begin()
declare i1 @__VERIFIER_nondet_bool()

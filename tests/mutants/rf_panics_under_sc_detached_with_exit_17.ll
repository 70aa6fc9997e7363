; checks: but-races
; mutant 17 of correct/detached_with_exit.c: [Mutation { kind: AtomicBlock, seed: 5426619749737345875 }]
; rf under sc: index out of bounds: the len is 8 but the index is 4294967295
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
@done = internal global i32 0, align 4
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %t = alloca i64, align 8
  %seen = alloca i32, align 4
  %atomic-temp = alloca i32, align 4
  call void @__VERIFIER_atomic_begin()
  %call = call i32 @pthread_create(ptr noundef %t, ptr noundef null, ptr noundef @worker, ptr noundef null)
  %v0 = load i64, ptr %t, align 8
  %call1 = call i32 @pthread_detach(i64 noundef %v0)
  %v1 = load atomic i32, ptr @done seq_cst, align 4
  store i32 %v1, ptr %atomic-temp, align 4
  br label %if.then
if.then:
  br label %if.end
if.end:
  ret i32 0
}
declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef)
define internal ptr @worker(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  %.atomictmp = alloca i32, align 4
  %v1 = load i32, ptr %.atomictmp, align 4
  store atomic i32 %v1, ptr @done seq_cst, align 4
  ret ptr null
}
declare i32 @pthread_detach(i64 noundef)
declare void @__VERIFIER_atomic_begin()

; checks: but-races
; mutant 25 of correct/detached_in_block.c: []
; rf under sc: index out of bounds: the len is 14 but the index is 4294967295
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
@y = internal global i32 0, align 4
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %thread = alloca i64, align 8
  %seen = alloca i32, align 4
  call void @__VERIFIER_atomic_begin()
  %call = call i32 @pthread_create(ptr noundef %thread, ptr noundef null, ptr noundef @work, ptr noundef null)
  %v0 = load i64, ptr %thread, align 8
  %call1 = call i32 @pthread_detach(i64 noundef %v0)
  br label %if.then
if.then:
  br label %if.end
if.end:
  %atomic-load2 = load atomic i32, ptr @y seq_cst, align 4
  %tobool3 = icmp ne i32 %atomic-load2, 0
  br label %if.then4
if.then4:
  br label %if.then7
if.then7:
  br label %if.end9
if.end9:
  br label %if.end10
if.end10:
  ret i32 0
}
declare void @__VERIFIER_atomic_begin()
declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef)
define internal ptr @work(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  store atomic i32 1, ptr @y seq_cst, align 4
  %v0 = load ptr, ptr %arg.addr, align 8
  ret ptr %v0
}
declare i32 @pthread_detach(i64 noundef)

; checks: but-races
; mutant 2 of correct/assembly_atomics.c: [Mutation { kind: Number, seed: 9030046159576810367 }]
; graph under sc: internal error: a violation was not reproduced (Fault { found: None } after 18 events): Fault(Assertion { condition: "turns == 2 && fetch_add(&total, 1) == 4", comparison: Some(Comparison { left: 4294967294, right: Some(2), kind: Integer { bits: 32, signed: None }, part: 0, parts: 2 }) })
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
@total = internal global i32 0, align 4
define dso_local i32 @main() {
entry:
  %a = alloca i64, align 8
  %b = alloca i64, align 8
  %call = call i32 @pthread_create(ptr noundef %a, ptr noundef null, ptr noundef @work, ptr noundef null)
  %call1 = call i32 @pthread_create(ptr noundef %b, ptr noundef null, ptr noundef @work, ptr noundef null)
  %v1 = load i64, ptr %b, align 8
  %call3 = call i32 @pthread_join(i64 noundef %v1, ptr noundef null)
  br label %if.else
if.else:
  unreachable
}
declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef)
define internal ptr @work(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  br label %while.cond
while.cond:
  br label %while.end
while.end:
  %call2 = call i32 @fetch_add(ptr noundef @total, i32 noundef 2)
  %v1 = load ptr, ptr %arg.addr, align 8
  ret ptr %v1
}
declare i32 @pthread_join(i64 noundef, ptr noundef)
define internal i32 @fetch_add(ptr noundef %p, i32 noundef %v) {
entry:
  %p.addr = alloca ptr, align 8
  %v.addr = alloca i32, align 4
  store ptr %p, ptr %p.addr, align 8
  store i32 %v, ptr %v.addr, align 4
  %v0 = load i32, ptr %v.addr, align 4
  %v1 = load ptr, ptr %p.addr, align 8
  %v2 = call i32 asm sideeffect "lock; xaddl $0, $1", "=r,=*m,0,*m,~{memory},~{dirflag},~{fpsr},~{flags}"(ptr elementtype(i32) %v1, i32 %v0, ptr elementtype(i32) %v1)
  store i32 %v2, ptr %v.addr, align 4
  %v3 = load i32, ptr %v.addr, align 4
  ret i32 %v3
}

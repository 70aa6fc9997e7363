; checks: all
; mutant 6 of library/c11.c: [Mutation { kind: Branch, seed: 15777420888104259225 }]
; dpor: Violation({"assertion", "misuse", "race"}), rf: Violation({"misuse", "race"}) under sc
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%struct.timespec = type { i64, i64 }
%union.mtx_t = type { i64, [32 x i8] }
%union.cnd_t = type { i64, [40 x i8] }
%struct.__once_flag = type { i32 }
@m = internal global %union.mtx_t zeroinitializer, align 8
@c = internal global %union.cnd_t zeroinitializer, align 8
@key = internal global i32 0, align 4
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %t = alloca i64, align 8
  %result = alloca i32, align 4
  %soon = alloca %struct.timespec, align 8
  br label %land.lhs.true
land.lhs.true:
  br label %if.then
if.then:
  br label %if.end
if.end:
  br label %land.lhs.true5
land.lhs.true5:
  br label %if.then8
if.then8:
  br label %if.end10
if.end10:
  %call11 = call i32 @thrd_create(ptr noundef %t, ptr noundef @work, ptr noundef @m)
  %cmp12 = icmp eq i32 %call11, 0
  br label %if.then13
if.then13:
  br label %if.end15
if.end15:
  br label %if.then17
if.then17:
  br label %if.end19
if.end19:
  %call20 = call i32 @mtx_lock(ptr noundef @m)
  br label %while.cond
while.cond:
  br label %while.end
while.end:
  %call22 = call i32 @cnd_timedwait(ptr noundef @c, ptr noundef @m, ptr noundef %soon)
  %cmp23 = icmp eq i32 %call22, 4
  br i1 %cmp23, label %if.then24, label %if.else25
if.then24:
  br label %if.end26
if.else25:
  unreachable
if.end26:
  br label %land.lhs.true30
land.lhs.true30:
  br label %land.lhs.true32
land.lhs.true32:
  br label %if.then34
if.then34:
  br label %if.end36
if.end36:
  br label %land.lhs.true39
land.lhs.true39:
  br label %land.lhs.true42
land.lhs.true42:
  br label %if.then45
if.then45:
  br label %if.end47
if.end47:
  br label %land.lhs.true54
land.lhs.true54:
  br label %if.then57
if.then57:
  br label %if.end59
if.end59:
  br label %land.lhs.true62
land.lhs.true62:
  br label %if.then67
if.then67:
  br label %if.end69
if.end69:
  %call70 = call i32 @thrd_create(ptr noundef %t, ptr noundef @work, ptr noundef null)
  %cmp71 = icmp eq i32 %call70, 0
  br label %land.lhs.true72
land.lhs.true72:
  br label %land.lhs.true75
land.lhs.true75:
  br label %if.then77
if.then77:
  br label %if.end79
if.end79:
  ret i32 0
}
declare i32 @thrd_create(ptr noundef, ptr noundef, ptr noundef)
define internal i32 @work(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  br label %if.then
if.then:
  br label %if.end
if.end:
  %v1 = load i32, ptr @key, align 4
  %call = call ptr @tss_get(i32 noundef %v1)
  %cmp1 = icmp eq ptr %call, null
  br label %if.then2
if.then2:
  br label %if.end4
if.end4:
  %m0.is = call i1 @__VERIFIER_nondet_bool()
  br label %m0.then
m0.then:
  br label %m0.join
m0.join:
  %call8 = call i32 @cnd_signal(ptr noundef @c)
  %call9 = call i32 @mtx_unlock(ptr noundef @m)
  br label %if.then10
if.then10:
  unreachable
}
declare i32 @mtx_lock(ptr noundef)
declare i32 @cnd_timedwait(ptr noundef, ptr noundef, ptr noundef)
declare i32 @mtx_unlock(ptr noundef)
declare ptr @tss_get(i32 noundef)
declare i32 @cnd_signal(ptr noundef)
declare i1 @__VERIFIER_nondet_bool()

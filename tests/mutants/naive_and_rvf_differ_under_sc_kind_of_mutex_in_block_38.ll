; checks: memory,race
; mutant 38 of wrong/kind_of_mutex_in_block.c: [Mutation { kind: Double, seed: 611331898238733183 }, Mutation { kind: Branch, seed: 9061979358405707002 }]
; naive: Violation({"misuse"}), rvf: Verified under sc
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%union.pthread_mutex_t = type { %struct.__pthread_mutex_s }
%struct.__pthread_mutex_s = type { i32, i32, i32, i32, i32, i16, i16, %struct.__pthread_internal_list }
%struct.__pthread_internal_list = type { ptr, ptr }
@mutex = dso_local global %union.pthread_mutex_t zeroinitializer, align 8
define dso_local void @__VERIFIER_atomic_enter() {
entry:
  %.compoundliteral = alloca %union.pthread_mutex_t, align 8
  br label %if.then
if.then:
  %__kind = getelementptr inbounds %struct.__pthread_mutex_s, ptr %.compoundliteral, i32 0, i32 4
  store i32 1, ptr %__kind, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 @mutex, ptr align 8 %.compoundliteral, i64 40, i1 false)
  %call = call i32 @pthread_mutex_lock(ptr noundef @mutex)
  %call1 = call i32 @pthread_mutex_lock(ptr noundef @mutex)
  %call2 = call i32 @pthread_mutex_unlock(ptr noundef @mutex)
  %call3 = call i32 @pthread_mutex_unlock(ptr noundef @mutex)
  %m1.is = call i1 @__VERIFIER_nondet_bool()
  br i1 %m1.is, label %m1.then, label %m1.join
m1.then:
  %m0.call3 = call i32 @pthread_mutex_unlock(ptr noundef @mutex)
  br label %m1.join
m1.join:
  br label %if.end
if.end:
  ret void
}
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg)
declare i32 @pthread_mutex_lock(ptr noundef)
declare i32 @pthread_mutex_unlock(ptr noundef)
define dso_local ptr @enter(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  call void @__VERIFIER_atomic_enter()
  ret ptr null
}
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %thread = alloca i64, align 8
  %call = call i32 @pthread_create(ptr noundef %thread, ptr noundef null, ptr noundef @enter, ptr noundef null)
  br label %if.else
if.else:
  unreachable
}
declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef)
declare i1 @__VERIFIER_nondet_bool()

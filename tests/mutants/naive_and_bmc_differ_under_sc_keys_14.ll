; checks: but-races
; mutant 14 of correct/keys.c: [Mutation { kind: Copy, seed: 2391358960271123524 }]
; naive: Violation({"assertion"}), bmc: Verified under sc
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
@key = internal global i32 0, align 4
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %t = alloca i64, align 8
  %a = alloca i32, align 4
  %b = alloca i32, align 4
  %call = call i32 @pthread_key_create(ptr noundef @key, ptr noundef null)
  %v0 = load i32, ptr @key, align 4
  %call1 = call i32 @pthread_setspecific(i32 noundef %v0, ptr noundef %a)
  %call2 = call i32 @pthread_create(ptr noundef %t, ptr noundef null, ptr noundef @worker, ptr noundef %b)
  %v2 = load i32, ptr @key, align 4
  %call4 = call ptr @pthread_getspecific(i32 noundef %v2)
  %cmp = icmp eq ptr %call4, %a
  br i1 %cmp, label %if.then, label %if.else
if.then:
  br label %if.end
if.else:
  unreachable
if.end:
  %v3 = load i32, ptr @key, align 4
  %call5 = call i32 @pthread_key_delete(i32 noundef %v3)
  ret i32 0
}
declare i32 @pthread_key_create(ptr noundef, ptr noundef)
declare i32 @pthread_setspecific(i32 noundef, ptr noundef)
declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef)
define internal ptr @worker(ptr noundef %arg) {
entry:
  %arg.addr = alloca ptr, align 8
  %m0.call = call i32 @pthread_key_create(ptr noundef @key, ptr noundef null)
  br label %if.then
if.then:
  br label %if.end
if.end:
  br label %if.then4
if.then4:
  br label %if.end6
if.end6:
  ret ptr null
}
declare ptr @pthread_getspecific(i32 noundef)
declare i32 @pthread_key_delete(i32 noundef)

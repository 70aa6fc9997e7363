; checks: but-races
; tests/programs/correct/recursive_mutex.c with [Mutation { kind: Size, seed: 9451178224409223312 }, Mutation { kind: Drop, seed: 16395033171434035313 }]
; naive: Violation({"assertion", "misuse", "unreachable"}), rf: Violation({"misuse"}) under sc
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%union.pthread_mutex_t = type { %struct.__pthread_mutex_s }
%struct.__pthread_mutex_s = type { i32, i32, i32, i32, i32, i16, i16, %struct.__pthread_internal_list }
%struct.__pthread_internal_list = type { %struct.__pthread_internal_list*, %struct.__pthread_internal_list* }
%union.pthread_mutexattr_t = type { i32 }
%union.pthread_attr_t = type { i64, [48 x i8] }
@counter = internal global i32 0, align 4
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %t = alloca i64, align 8
  %attributes = alloca %union.pthread_mutexattr_t, align 4
  %call4 = call i32 @pthread_create(i64* noundef %t, %union.pthread_attr_t* noundef null, i8* (i8*)* noundef @worker, i8* noundef null)
  call void @add_two()
  ret i32 0
}
declare i32 @pthread_create(i64* noundef, %union.pthread_attr_t* noundef, i8* (i8*)* noundef, i8* noundef)
define internal i8* @worker(i8* noundef %arg) {
entry:
  %arg.addr = alloca i8*, align 8
  %v1 = load i32, i32* @counter, align 4
  %cmp = icmp eq i32 %v1, 0
  br i1 %cmp, label %if.then, label %lor.lhs.false
lor.lhs.false:
  br label %if.else
if.then:
  br label %if.end
if.else:
  unreachable
if.end:
  ret i8* null
}
define internal void @add_two() {
entry:
  %v1 = load i32, i32* @counter, align 4
  %inc2 = add nsw i32 %v1, 1
  %inc2.narrow = trunc i32 %inc2 to i16
  store i16 %inc2.narrow, i16* bitcast (i32* @counter to i16*), align 4
  ret void
}

; checks: memory,race
; mutant 0 of wrong/use_after_return.c: [Mutation { kind: CriticalSection, seed: 12687278154531807055 }, Mutation { kind: Drop, seed: 12453753333808277608 }]
; graph under sc: internal error: a violation was not reproduced (NotReady { step: 7, thread: T1 } after 11 events): Fault(Misuse { misuse: JoinTwice, object: None, thread: Some(T1) })
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%union.pthread_attr_t = type { i64, [48 x i8] }
@t = internal global i64 0, align 8
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  call void @start()
  ret i32 0
}
define internal void @start() {
entry:
  %local = alloca i32, align 4
  %v0 = bitcast i32* %local to i8*
  %call = call i32 @pthread_create(i64* noundef @t, %union.pthread_attr_t* noundef null, i8* (i8*)* noundef @work, i8* noundef %v0)
  ret void
}
declare i32 @pthread_create(i64* noundef, %union.pthread_attr_t* noundef, i8* (i8*)* noundef, i8* noundef)
define internal i8* @work(i8* noundef %arg) {
entry:
  %arg.addr = alloca i8*, align 8
  %.atomictmp = alloca i32, align 4
  %atomic-temp = alloca i32, align 4
  store i8* %arg, i8** %arg.addr, align 8
  %v0 = load i8*, i8** %arg.addr, align 8
  %v1 = bitcast i8* %v0 to i32*
  store i32 1, i32* %.atomictmp, align 4
  %v2 = load i32, i32* %.atomictmp, align 4
  %v3 = atomicrmw add i32* %v1, i32 %v2 seq_cst, align 4
  store i32 %v3, i32* %atomic-temp, align 4
  %m0.unlock = call i32 @pthread_mutex_unlock(ptr noundef @raddle.mutex)
  ret i8* null
}
@raddle.mutex = internal global [40 x i8] zeroinitializer, align 8
declare i32 @pthread_mutex_unlock(ptr noundef)

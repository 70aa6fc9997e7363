; checks: all
; mutant 0 of wrong/use_after_free.c: [Mutation { kind: Loop, seed: 6917146436736833138 }]
; graph under sc: internal error: a violation was not reproduced (NotReady { step: 6, thread: T0 } after 9 events): Fault(Misuse { misuse: JoinTwice, object: None, thread: Some(T1) })
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%struct.job = type { i32, i32 }
%union.pthread_attr_t = type { i64, [48 x i8] }
define dso_local i32 @main() {
entry:
  %retval = alloca i32, align 4
  %t = alloca i64, align 8
  %job = alloca %struct.job*, align 8
  %call = call noalias i8* @malloc(i64 noundef 8)
  %v0 = bitcast i8* %call to %struct.job*
  store %struct.job* %v0, %struct.job** %job, align 8
  %v2 = load %struct.job*, %struct.job** %job, align 8
  %v3 = bitcast %struct.job* %v2 to i8*
  %call1 = call i32 @pthread_create(i64* noundef %t, %union.pthread_attr_t* noundef null, i8* (i8*)* noundef @work, i8* noundef %v3)
  %v4 = load %struct.job*, %struct.job** %job, align 8
  %v5 = bitcast %struct.job* %v4 to i8*
  call void @free(i8* noundef %v5)
  br label %m0.head
m0.head:
  br label %m0.then
m0.then:
  %v6 = load i64, i64* %t, align 8
  %call2 = call i32 @pthread_join(i64 noundef %v6, i8** noundef null)
  br label %m0.head
}
declare noalias i8* @malloc(i64 noundef)
declare i32 @pthread_create(i64* noundef, %union.pthread_attr_t* noundef, i8* (i8*)* noundef, i8* noundef)
define internal i8* @work(i8* noundef %arg) {
entry:
  %arg.addr = alloca i8*, align 8
  %job = alloca %struct.job*, align 8
  %atomic-temp = alloca i32, align 4
  store i8* %arg, i8** %arg.addr, align 8
  %v0 = load i8*, i8** %arg.addr, align 8
  %v1 = bitcast i8* %v0 to %struct.job*
  store %struct.job* %v1, %struct.job** %job, align 8
  %v2 = load %struct.job*, %struct.job** %job, align 8
  %state = getelementptr inbounds %struct.job, %struct.job* %v2, i32 0, i32 1
  %v3 = load atomic i32, i32* %state seq_cst, align 4
  store i32 %v3, i32* %atomic-temp, align 4
  %v4 = load i32, i32* %atomic-temp, align 4
  %tobool = icmp ne i32 %v4, 0
  br i1 %tobool, label %cond.true, label %cond.false
cond.true:
  %v5 = load %struct.job*, %struct.job** %job, align 8
  br label %cond.end
cond.false:
  br label %cond.end
cond.end:
  %cond = phi %struct.job* [ %v5, %cond.true ], [ null, %cond.false ]
  %v6 = bitcast %struct.job* %cond to i8*
  ret i8* %v6
}
declare void @free(i8* noundef)
declare i32 @pthread_join(i64 noundef, i8** noundef)

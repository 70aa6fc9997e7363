; checks: but-races
; mutant 1 of library/poll_pipe.c: [Mutation { kind: CriticalSection, seed: 6271780885997848492 }]
; graph under c11: attempt to add with overflow
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
%struct.pollfd = type { i32, i16, i16 }
@ends = internal global [2 x i32] zeroinitializer, align 4
define dso_local i32 @main() {
entry:
  %watched = alloca %struct.pollfd, align 4
  %byte = alloca i8, align 1
  %sender = alloca i64, align 8
  %call = call i32 @pipe(ptr noundef getelementptr inbounds ([2 x i32], ptr @ends, i64 0, i64 0))
  br label %if.then
if.then:
  br label %if.end
if.end:
  %v1 = load i32, ptr getelementptr inbounds ([2 x i32], ptr @ends, i64 0, i64 0), align 4
  %call2 = call i32 (i32, i32, ...) @fcntl(i32 noundef %v1, i32 noundef 4, i32 noundef 2048)
  %cmp3 = icmp eq i32 %call2, 0
  br label %if.then4
if.then4:
  br label %if.end6
if.end6:
  br label %land.lhs.true
land.lhs.true:
  br label %if.then11
if.then11:
  br label %if.end13
if.end13:
  br label %land.lhs.true17
land.lhs.true17:
  br label %if.then19
if.then19:
  br label %if.end21
if.end21:
  br label %land.lhs.true25
land.lhs.true25:
  br label %if.then29
if.then29:
  br label %if.end31
if.end31:
  br label %land.lhs.true36
land.lhs.true36:
  br label %if.else42
if.else42:
  unreachable
}
declare i32 @pipe(ptr noundef)
declare i32 @fcntl(i32 noundef, i32 noundef, ...)

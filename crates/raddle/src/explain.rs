//! Short texts for `raddle explain`.

#[cfg(test)]
use crate::cli::name_of;
use crate::error::Error;

/// Longer lines are hard to read.
pub(crate) const COLUMNS: usize = 80;

struct Topic {
    /// The first is the one that lists show.
    names: &'static [&'static str],
    text: &'static str,
}

const TOPICS: &[Topic] = &[
    Topic {
        names: &["projects", "project", "compile-database"],
        text: "Several files are linked: `raddle check main.c queue.c`. With `-p BUILD`, they are compiled as \
               BUILD/compile_commands.json says, and its sources that define what is missing are linked as well; FILE may be a \
               target of CMake, and without it the one source with `main` is where the program begins. `--entry` names another \
               function, `--args` is for the program, and what stands behind `--` for the compiler. What was compiled is kept \
               by content; `--no-cache` compiles anew.",
    },
    Topic {
        names: &["auto"],
        text: "Engine `auto` takes the engine that is probably best for the program: `rf`, or `dpor` where threads add to a \
               common variable without using the result, where there are atomic blocks or accesses of different sizes to \
               the same bytes, or where threads meet in locks only; `bmc` with `--memory tso` or `pso`. Where there turn out to be many executions, or values of \
               full range, it asks `bmc` as well.",
    },
    Topic {
        names: &["dpor"],
        text: "Engine `dpor` (Optimal-DPOR) explores one execution of each class of interleavings that differ only in the \
               order of operations that do not affect each other.",
    },
    Topic {
        names: &["rf"],
        text: "Engine `rf` explores one execution of each class of executions in which every read gets its value from the \
               same write: never more than `dpor` explores without independent fetch-and-adds, and far fewer where many writes are never \
               read.",
    },
    Topic {
        names: &["rvf"],
        text: "Engine `rvf` (RVF-SMC) looks at the values that reads get, not at who wrote them: far fewer executions than `rf` \
               where many writes write the same, or where a thread does the same whatever it reads. Loops that wait come to \
               an end. If data races are looked for and could be there, it tells apart who wrote what atomic accesses and \
               locks read: `--check assert,memory,deadlock` spares it that.",
    },
    Topic {
        names: &["bmc"],
        text: "Engine `bmc` makes one formula of all executions up to a bound on loops and asks a solver for a violation. It \
               raises the bound until no execution exceeds it; `--unroll N` fixes it. It knows all memory models and \
               nondeterministic values of any width, and is at its best where few threads have many interleavings. It \
               looks for everything but livelocks (deadlocks of threads that wait in loops included). What it cannot turn into a formula it refuses by name.",
    },
    Topic {
        names: &["mcr"],
        text: "Engine `mcr` (maximal causality reduction) explores one execution of each combination of what the threads make of \
               the values they read. It solves for new combinations instead of trying interleavings, and finds data races in \
               executions that it does not run. Few executions, each of which costs more; `--jobs` spreads the work.",
    },
    Topic {
        names: &["jobs", "parallel", "checkpoint", "resume"],
        text: "Engines `graph`, `dpor`, `rf`, `rvf`, `mcr` and `bmc` (two at most) have several workers: `--jobs N`, by default one for each processor. Counts, verdict and \
               violation are those of one worker; where several workers of `dpor`, `rf` or `rvf` find something, one explores again and tells of it. With `graph`, `dpor`, `rf` and `rvf`, also where `auto` chooses them, `--checkpoint FILE` keeps what is left of a search every \
               minute and when it is stopped (Ctrl-C, SIGTERM, a limit), and `raddle resume FILE` goes on with any number of \
               workers, to the same counts. A checkpoint that is damaged, or of another program or version, is refused.",
    },
    Topic {
        names: &["cluster", "worker"],
        text: "`raddle check FILE --cluster nats://HOST` has a program explored by all who run `raddle worker --cluster nats://HOST`, on \
               any number of machines (engine `graph`). They meet on a NATS server with JetStream, 2.12 or newer; the answer is that of \
               one worker, whoever is killed or cut off meanwhile. `--attach RUN` shows the answer of a run that was begun before, \
               and `raddle cluster status`, `cancel` and `clean` look after runs. It takes a build with \
               `--features cluster`. See docs/cluster.md.",
    },
    Topic {
        names: &["states"],
        text: "Engine `states` goes through every state of the program once: what threads do next, and what memory holds, whatever led there. \
               Programs with counters, buffers and locks that are taken again and again have far fewer states than executions, and loops that go round for \
               ever have few, too. Critical sections, and accesses to memory that one thread uses alone, are one step each. It finds failed assertions, memory \
               faults, deadlocks, overflows and reads of what nobody wrote, but no data races: those depend on how a state was come to. \
               `auto` asks it where a search is long and races are not looked for (`--property`, `--check assert`).",
    },
    Topic {
        names: &["icb"],
        text: "Engine `icb` (iterative context bounding) explores all interleavings, those with few preemptions first: a \
               preemption is a switch away from a thread that could go on. It does not end on loops that wait.",
    },
    Topic {
        names: &["bpor"],
        text: "Engine `bpor` (bounded partial-order reduction) explores executions with few preemptions first, as `icb` does, and \
               leaves out most of those that differ only in the order of operations that do not affect each other. It does not \
               end on loops that wait.",
    },
    Topic {
        names: &["naive"],
        text: "Engine `naive` runs every interleaving of the threads' visible operations. It is slow and simple: the \
               oracle that other engines are tested against. It knows all memory models.",
    },
    Topic {
        names: &["graph"],
        text: "Engine `graph` explores execution graphs: which write each read reads from, and the order of the writes to each \
               location. It visits each graph that the memory model allows once (TruSt), and needs no more memory than one graph \
               takes. It knows all memory models.",
    },
    Topic {
        names: &["c11"],
        text: "Memory model `c11` is that of C, C++ and Rust: RC11, with the release sequences of the program's language. A read may return \
               an older value than the newest, unless something orders the newer write before it: a release store that an acquire load \
               reads from, fences, locks, `seq_cst` operations, the start and the end of threads. A report says of each such read which newer write \
               it did not see (`stale: not step 3`), and which orderings are too weak for the two to be ordered. A write may come before one that an earlier step \
               did (`older than step 3`). Where sequential consistency does not allow the execution, the report names the orderings to strengthen: \
               `raddle explain orderings`.\n\
               \n\
               Not covered: load buffering of relaxed \
               accesses (each of two threads reads what the other writes later), which RC11 forbids and some processors show; `consume` counts as `acquire`. If races are not \
               looked for, plain accesses count as relaxed ones, and the answer says so.\n\
               \n\
               It is the default for programs that \
               use weaker orderings than `seq_cst` themselves. If all atomics of a program are `seq_cst` (the answer says so) or there are none, it cannot tell \
               `c11` from `sc` unless it has races, which are violations; it is explored under `sc`. `memory_because` in JSON has the reason.",
    },
    Topic {
        names: &["sc"],
        text: "Memory model `sc` is sequential consistency: the threads' operations happen one after another, \
               and a read returns what was written last. Programs without data races all of whose atomics are `seq_cst` \
               behave like this.",
    },
    Topic {
        names: &["tso"],
        text: "Memory model `tso` is that of x86. A store waits in a buffer of its thread, which alone sees it, until it \
               reaches memory; the stores of a thread reach it in order. Sequentially consistent stores and fences, \
               read-modify-writes, operations on mutexes and the like, starting and joining threads wait until the buffer \
               is empty.",
    },
    Topic {
        names: &["pso"],
        text: "Memory model `pso` is `tso`, but the stores of a thread to different locations reach memory in any order. \
               A release store or fence keeps the stores before it before those after it.",
    },
    Topic {
        names: &["assert", "assertion"],
        text: "Check `assert` finds failing `assert`s and calls of `abort`, `reach_error` and `__VERIFIER_error`.",
    },
    Topic {
        names: &["memory"],
        text: "Check `memory` finds wrong uses of memory: null and wild pointers, accesses out of bounds or after `free`, \
               double and invalid `free`, misaligned atomics, writes to constants; division by zero; and wrong uses of \
               mutexes, condition variables, semaphores, barriers and thread handles.",
    },
    Topic {
        names: &["race", "data-race"],
        text: "Check `race` finds data races: two accesses to the same bytes by different threads, at least one a write, at \
               least one not atomic, which no synchronisation orders. In C and C++ a data race is undefined behaviour: \
               protect both accesses by a mutex, or make them atomic. What a release store publishes is also learnt from \
               later read-modify-writes of the same variable (its release sequence); up to C17 and C++17 from later atomic stores of the \
               same thread, too. `-std=` decides which rule holds; without it programs \
               are C17 and C++17, and Rust follows C++20.",
    },
    Topic {
        names: &["deadlock"],
        text: "Check `deadlock` finds executions in which threads wait for good: for a mutex that is never unlocked, a \
               signal that never comes, a thread that never ends, or in a loop, for a write that no thread will do any more \
               (a spin lock that is not given back, a flag that nobody sets). A loop counts if its rounds change nothing. Engines `naive`, `icb` and `bpor` go round such loops for ever instead, \
               and come to no answer. Threads that wait for one whose assumption failed are no deadlock: \
               `raddle explain blocked`.",
    },
    Topic {
        names: &["livelock"],
        text: "Check `livelock` (off by default; engines `dpor`, `rf`, `rvf` and `mcr`) finds executions in which threads spin for good: in loops that \
               wait for a write which no thread will do any more. Check `deadlock` finds these, too, together with threads that wait \
               otherwise; `livelock` is for those who do not look for deadlocks. Threads that keep each other going, with \
               changes to memory in every round, are not found.",
    },
    Topic {
        names: &["time", "clocks"],
        text: "How long things take is not known, so a wait with a deadline may be given up at any moment, also where another thread would have been \
               in time on most machines: `assert_eq!(recv_timeout(…), Ok(…))` does fail. Each thread has a clock of its own. It stands still but for what the thread \
               sleeps and waits, and for loops that go round until it is late enough. Clocks know nothing of each other: who joins a thread that has slept does not find \
               it to be later. So where a thread looks at its clock while time passes for another one, a violation that needs little time to have passed may be none, \
               and the answer says so. What needs much time to have passed can happen.",
    },
    Topic {
        names: &["blocked"],
        text: "An execution is blocked if some thread does not come to its end in it. An answer says why:\n\
               \n\
               - an assumption fails (`__VERIFIER_assume`): the execution is none of those that were asked for;\n\
               - a thread stops early: at a bound (`--unroll`), or at a fault that `--check` does not name;\n\
               - threads wait for good, some of them in loops: with `--check deadlock` (the default) that is a violation;\n\
               - a thread is left in a loop: it has done a round for nothing, and the engine went no further because other executions \
               show what it does next (`--no-await`, a location that is also written plainly); or the engine pruned the execution;\n\
               - a thread wakes up spuriously, finds nothing changed and waits again: that it did not wake up is another execution \
               (`raddle explain spurious-wakeups`);\n\
               - an attempt comes to nothing: a compare-exchange was to fail for no reason and had one (`raddle explain spurious-failures`), or \
               `std::lock` found the second mutex taken and gave back the first, which is as if it had come later.\n\
               \n\
               JSON has the numbers under `executions.blocked_by`. Only if no execution runs to its end is it \
               worth a second look: then little of the program was checked.",
    },
    Topic {
        names: &["spurious-wakeups", "spurious"],
        text: "A thread that waits on a condition variable may wake up although nobody signalled it: POSIX, C, C++ and Rust allow \
               that, and it happens. So the condition has to be checked again, in a loop:\n\
               \n\
               \x20   while (!ready)\n\
               \x20       pthread_cond_wait(&changed, &mutex);\n\
               \n\
               Raddle wakes every thread once at each wait; loops that check again cost no more executions that run to their end. \
               `--no-spurious-wakeups` lets only signals wake threads.",
    },
    Topic {
        names: &["spurious-failures", "weak-compare-exchange"],
        text: "C, C++ and Rust let a weak compare-exchange fail although it finds what it expects, which it does on processors that reserve \
               a location and lose the reservation. C11 and C++ let `mtx_trylock` and `try_lock` fail although nobody has the mutex. So neither means that somebody else \
               was there:\n\
               \n\
               \x20   if (!atomic_compare_exchange_weak(&owner, &nobody, me))\n\
               \x20       return;   /* nobody may have it now */\n\
               \n\
               Try again in a loop, or use the strong form. Raddle lets each of them fail once for every thread and place that calls it. Loops that just try again cost no \
               executions. Processors with store buffers (`--memory tso`, `pso`) do not fail in this way. `pthread_mutex_trylock` does not \
               either, as POSIX says. `--no-spurious-failures` leaves them out, and the answer says so.",
    },
    Topic {
        names: &["overflow"],
        text: "Check `overflow` (off by default) finds signed integer overflow, which is undefined behaviour in C and C++.",
    },
    Topic {
        names: &["uninit", "uninitialised"],
        text: "Check `uninit` (on by default for C and C++) finds violation `uninitialised`: something depends on memory from \
               `malloc`, or on a local variable, that nobody has written. On a real machine it holds anything. Copying it is \
               no mistake (a struct with a field that is not used); comparing it, computing with it, using it as an address is. \
               Initialise the variable, or use `calloc`. Engines `rvf` and `mcr` look at the executions that they run. \
               Where `--check` leaves `uninit` out, such memory has any value: engine `bmc` is asked, and a violation says which \
               values it needs.",
    },
    Topic {
        names: &["abort"],
        text: "Violation `abort`: the program calls `abort`.",
    },
    Topic {
        names: &["error-reached"],
        text: "Violation `error-reached`: `reach_error` or `__VERIFIER_error` is called: functions that mark places which \
               must not be reached.",
    },
    Topic {
        names: &["null-dereference"],
        text: "Violation `null-dereference`: an access through a null pointer, or an address close to it, such as a field of \
               a record at address 0. `malloc` of more than 1 GiB returns null here.",
    },
    Topic {
        names: &["wild-pointer"],
        text: "Violation `wild-pointer`: an access to an address where no object ever was.",
    },
    Topic {
        names: &["out-of-bounds"],
        text: "Violation `out-of-bounds`: an access that begins before its object or ends after it.",
    },
    Topic {
        names: &["misaligned"],
        text: "Violation `misaligned`: an atomic access at an address that is no multiple of its size. Hardware does not \
               make it atomic.",
    },
    Topic {
        names: &["write-to-constant"],
        text: "Violation `write-to-constant`: a write to a `const` object or a string literal.",
    },
    Topic {
        names: &["use-after-free"],
        text: "Violation `use-after-free`: an access to a heap block after `free`, or to a local variable of a function \
               that has returned. Raddle never uses memory again, so it always notices.",
    },
    Topic {
        names: &["double-free"],
        text: "Violation `double-free`: a heap block is freed a second time.",
    },
    Topic {
        names: &["invalid-free"],
        text: "Violation `invalid-free`: `free` of an address that `malloc` did not return: a variable, or the middle of a \
               block.",
    },
    Topic {
        names: &["division-by-zero"],
        text: "Violation `division-by-zero`: an integer division or remainder by zero.",
    },
    Topic {
        names: &["unreachable"],
        text: "Violation `unreachable`: the program gets to a place that the compiler takes for impossible, such as the end \
               of a non-void function or `__builtin_unreachable()`.",
    },
    Topic {
        names: &["misuse"],
        text: "Violation `misuse`: a synchronisation object or a thread handle is used against its rules: unlocking a mutex \
               that the thread does not hold, destroying a locked one, joining a thread twice.",
    },
    Topic {
        names: &["panic"],
        text: "Violation `panic`: a Rust thread panics, and nobody looks at it: no `catch_unwind` catches it, and the thread is \
               `main` or is not joined by the end. A panic that is passed on (`join().unwrap()`, `resume_unwind`, a scope) is \
               shown where it began. Panics that cannot be unwound (in a destructor during a panic, in an `extern \"C\"` \
               function) always are violations. `--panic any` makes every panic one. In C++: `std::terminate` is called.",
    },
    Topic {
        names: &["exception"],
        text: "Violation `exception`: a C++ exception leaves `main`, its thread, a function that is `noexcept`, or a destructor \
               that runs because of another one. The program ends then (`std::terminate`). It is shown where it was thrown, \
               with what it says of itself (`what()`).",
    },
    Topic {
        names: &["violation"],
        text: "Verdict `violation`: there is an execution that goes wrong. It was run twice and went wrong twice; \
               what is shown is the plainest that does: without steps that the violation does not need, and with \
               the fewest context switches. Exit status 1.",
    },
    Topic {
        names: &["verified"],
        text: "Verdict `verified`: no execution of the program goes wrong in what was looked for (`--check`), \
               within the model of docs/soundness.md. With `--unroll N` only executions count in which no loop goes \
               round more than N times; the answer says so. It is never said if no execution came to its end. Notes \
               below it say what else was not looked at (`raddle explain coverage`). Exit status 0.",
    },
    Topic {
        names: &["inconclusive"],
        text: "Verdict `inconclusive`: a limit was reached (time, memory, executions, Ctrl-C, an endless loop) \
               before everything was explored, and nothing wrong was found till then. The answer says what was being done \
               if that was not exploring. Without `--memory-limit` the limit is 80 % of the machine's memory. Raise the limit, bound loops \
               with `--unroll N`, or make the program smaller: fewer threads, fewer rounds. Or nothing was found, but \
               no execution came to its end: a bound cut all of them, threads wait or spin for good, or an assumption \
               fails in each. Exit status 3; or 2, if executions reach what Raddle cannot run (`raddle explain \
               unsupported`).",
    },
    Topic {
        names: &["unsupported"],
        text: "An execution reaches something that Raddle cannot run: a function that is \
               only declared, inline assembly. The thread goes no further there; the search does, so \
               violations elsewhere are found, and all that is out of reach is told at once. Without a violation the \
               verdict is `inconclusive`, with exit status 2 (`\"reason_kind\": \"unsupported\"` in JSON). Define a stub, \
               or leave it out while checking: the macro `RADDLE` is defined then, and `cfg(raddle)` in Rust.",
    },
    Topic {
        names: &["coverage"],
        text: "What an answer rests on. Text has a note where something is odd: no thread was started besides main, or an \
               assert was never reached. An assert is reached if an execution came to decide it. JSON has it all in \
               `coverage`: `threads_started`, `ended` (did some execution come to its end), `cut_at` (the loops that \
               `--unroll` cut), `asserts` with the places of those never reached, `unreached_functions` and \
               `unreached_lines` of the program itself, not of libraries. `null` is what the engine does not know.",
    },
    Topic {
        names: &["orderings", "memory-order", "relaxed", "seq_cst"],
        text: "Orderings weaker than `seq_cst` (relaxed, acquire, release, acq_rel) allow more than sequential consistency. Memory \
               model `c11` explores all that the language allows, and is what a program gets that uses them itself. Memory model `sc` \
               explores all atomics as if they were `seq_cst`; `tso` and `pso` delay stores, but \
               never reorder loads. That concerns programs in which only libraries use such orderings, and whoever asks for these models. For data races the orderings do count, under every model. So a violation is real, \
               but what is verified under them may still go wrong in ways that are not looked at; \
               where threads came to such orderings the answer says so, and in JSON in `weak_orderings`. Programs that \
               have only `seq_cst` atomics and locks are not concerned.\n\
               \n\
               A violation that sequential consistency does not have, or a race of a program with atomics, comes with the orderings to change: those of the \
               execution are made stronger one at a time, in pairs if none alone does, and else as few of them as it takes, and the axioms of the \
               model say whether the execution is still possible, or the two accesses of a race still not ordered. That is about \
               this one execution: check again after the change. In JSON: `violation.orderings.remedies`.\n\
               \n\
               `raddle orderings FILE` is about all executions. It says of each ordering of the program's own atomics which weaker ones would do, others \
               unchanged, and finds a set of stronger ones that makes a broken program correct. Accesses inside of `std::atomic` or `AtomicUsize` belong to \
               the line that calls them. Exit status: 0 verified, 1 broken, 3 if something is not known.",
    },
    Topic {
        names: &["timeline", "execution", "trace"],
        text: "The timeline of a violation has one lane for each thread and one row for each step, top to bottom in \
               the order in which they happen. `x = 1` is a write, `read x → 1` a read, `CAS` a compare-exchange, \
               `← step 4` the step that wrote what is read, `← initial` that nobody did. `heap1` is the first block that \
               is allocated, `i@T2` a local variable of thread T2, `std::thread@20` a thread without a name that line 20 \
               starts; `(delayed)` is a store that reaches memory later. `▸` marks where another \
               thread takes over, `✗` what is wrong. Steps that only their own thread sees may be folded into one \
               row: `--full` shows all.",
    },
    Topic {
        names: &["replay"],
        text: "`raddle check FILE --trace T` saves a violating execution, `raddle replay T` runs it again, step by \
               step, with what the program prints. The program is compiled again. The exit status is 1 if the saved \
               violation is reproduced, and 3 if not; then it is said at which event the execution took another way, \
               and why: the program has changed, the file was damaged or edited, or another version of Raddle wrote \
               it.",
    },
    Topic {
        names: &["report", "html"],
        text: "`--report FILE.html` writes a page for any browser: the source beside the timeline, memory and store \
               buffers after each step, arrows for reads-from, coherence and happens-before. The arrow keys step. \
               The file needs nothing else and can be sent to others.",
    },
    Topic {
        names: &["json"],
        text: "`--format json` prints one object for scripts. Its members are stable: `verdict`, `complete`, \
               `bound`, `thread_bound`, `reason`, `reason_kind`, `memory_because` (why this memory model, if none was asked for), `executions` (`complete`, `blocked`, and how many of the blocked were \
               `cut`), `violation` with `kind`, `message`, `location`, `orderings` (what stronger ones would do) and `trace`, `unsupported` (all that was out of \
               reach), `threads`, `events`, `coverage`, `weak_orderings`, `notes`, `seconds` (`seconds_compiling` of them), `peak_memory_bytes`. \
               `reason_kind` is `unsupported` where the exit status is 2.",
    },
    Topic {
        names: &["sarif"],
        text: "`--format sarif` prints a log in SARIF 2.1.0, the format in which code hosts and editors take \
               results of analyses. Each violation comes with its execution as a code flow, and with fixes where stronger orderings would do.",
    },
    Topic {
        names: &["witness"],
        text: "`--witness FILE` writes a violation witness in format 2.2 of the verification competition SV-COMP: \
               the place that is reached (two for a race) and the values of `__VERIFIER_nondet_*` on the way, each with \
               its thread. How threads interleave in between is not said.",
    },
    Topic {
        names: &["proof", "verify-proof"],
        text: "`--engine bmc --proof FILE` writes down what a `verified` rests on: the clauses of the formulas, what they order, \
               the clauses that were learnt and the cycles that the theory found. `raddle verify-proof FILE` checks it with code \
               that shares nothing with the solver. That the formulas say what the program does is not part of it: docs/proofs.md \
               says what is.",
    },
    Topic {
        names: &["property"],
        text: "`--property FILE.prp` reads what to look for from a property file of the verification competition: \
               unreach-call, no-data-race, valid-memsafety or no-overflow; leaks, valid-memcleanup and termination are \
               not looked for, so that the answer is inconclusive. docs/sv-comp.md has the command. `abort` is then an end of the program \
               like `exit`, and only calls of `reach_error` break unreach-call.",
    },
    Topic {
        names: &["unroll", "loop"],
        text: "Loops without a fixed number of rounds may make executions endless. Loops that only wait for another \
               thread are recognised and need nothing. Others need `--unroll N`, which stops every loop of the program \
               that is not known to end after N rounds; the answer then covers no more than that, and says how many \
               executions were cut short. Loops of libraries (system headers, the standard library, packages) are not \
               bounded by engines that run the program, and functions that call themselves by none. If no execution came to \
               its end, the answer is `inconclusive`.",
    },
    Topic {
        names: &["threads"],
        text: "Programs that go on starting threads have no last execution. With `--threads N` a thread stops where it would \
               start one that only executions of more than N threads have, `main` included: the how-many-th thread of its parent, \
               plus what the parent counts for, is more than N. So every execution of up to N threads is covered, and the answer \
               says so. An execution in which all other threads have come to their end counts as one that came to its end.",
    },
    Topic {
        names: &["reductions", "purity", "await", "ifaa"],
        text: "Reductions explore less without missing anything. Purity: loop rounds without effect are not \
               explored (`--no-purity`). Awaits: a thread whose round would have no effect waits until that changes \
               (`--no-await`). So are rounds that take something and give it back while nobody looks \
               (`--no-net-effect`). Independent fetch-and-adds: fetch-and-adds whose results nobody uses are independent (`--no- \
               ifaa`).",
    },
    Topic {
        names: &["nondet"],
        text: "`__VERIFIER_nondet_bool()` and `__VERIFIER_nondet_char()` return any value: each is explored. Wider \
               types, floats among them, have too many values to try: engine `bmc` takes all of them into account at \
               once, and `auto` asks it.",
    },
    Topic {
        names: &["verifier-functions"],
        text: "Functions with a meaning in checked programs: `__VERIFIER_assume(c)` ends executions in which c is \
               false, `__VERIFIER_atomic_begin()` and `__VERIFIER_atomic_end()` make what is between one step, \
               `reach_error()` marks what must not be reached.",
    },
    Topic {
        names: &["abstraction", "model", "soundness"],
        text: "What is checked is the program compiled without optimisation, in a model: memory is never used again \
               after `free`, `malloc` never fails, there are no signals or files, time passes only for who waits for it, and \
               `main` gets no arguments. docs/soundness.md has the whole list.",
    },
    Topic {
        names: &["exit-status"],
        text: "0: verified. 1: a violation was found. 2: the input or the command line is at fault: it does not compile, an \
               execution reaches something Raddle does not support, or an option is wrong. 3: inconclusive: a limit was \
               reached, or no execution came to its end.",
    },
];

/// The topics by what they are about, as `raddle explain` lists them.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "engines",
        &[
            "auto", "dpor", "rf", "graph", "rvf", "mcr", "bmc", "states", "icb", "bpor", "naive",
        ],
    ),
    ("memory models", &["c11", "sc", "tso", "pso", "orderings"]),
    (
        "checks",
        &[
            "assert", "memory", "race", "deadlock", "uninit", "livelock", "overflow",
        ],
    ),
    (
        "violations",
        &[
            "abort",
            "error-reached",
            "null-dereference",
            "wild-pointer",
            "out-of-bounds",
            "misaligned",
            "write-to-constant",
            "use-after-free",
            "double-free",
            "invalid-free",
            "division-by-zero",
            "unreachable",
            "misuse",
            "panic",
            "exception",
        ],
    ),
    (
        "answers",
        &[
            "verified",
            "violation",
            "inconclusive",
            "unsupported",
            "blocked",
            "coverage",
            "exit-status",
        ],
    ),
    (
        "output",
        &[
            "timeline", "report", "replay", "json", "sarif", "witness", "proof", "property",
        ],
    ),
    (
        "programs",
        &[
            "projects",
            "jobs",
            "cluster",
            "unroll",
            "threads",
            "nondet",
            "verifier-functions",
            "abstraction",
            "spurious-wakeups",
            "spurious-failures",
            "time",
            "reductions",
        ],
    ),
];

/// The text of a topic in lines of at most so many columns, or the list of all topics.
pub fn explain(topic: Option<&str>, columns: usize) -> Result<String, Error> {
    let Some(topic) = topic else {
        return Ok(format!(
            "{}\n`raddle explain TOPIC` says what it is.\n",
            list(columns)
        ));
    };
    TOPICS
        .iter()
        .find(|it| it.names.iter().any(|name| name.eq_ignore_ascii_case(topic)))
        .map(|it| filled(it.text, "", columns))
        .ok_or_else(|| Error::UnknownTopic {
            topic: topic.to_owned(),
            similar: similar(topic),
        })
}

fn list(columns: usize) -> String {
    let widest = GROUPS.iter().map(|(title, _)| title.len()).max();
    let indent = " ".repeat(widest.unwrap_or(0) + 2);
    let mut text = String::new();
    for (title, topics) in GROUPS {
        let lines = filled(&topics.join(", "), &indent, columns);
        text += title;
        text += &lines[title.len()..];
    }
    text
}

/// Breaks a text into lines, each with the indent in front.
fn filled(text: &str, indent: &str, columns: usize) -> String {
    let mut lines = String::new();
    let mut line = indent.to_owned();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let is_first = line.len() == indent.len();
        if !is_first && line.chars().count() + 1 + word.chars().count() > columns {
            lines += &line;
            lines.push('\n');
            indent.clone_into(&mut line);
        } else if !is_first {
            line.push(' ');
        }
        line += word;
    }
    lines + &line + "\n"
}

/// The topic that was probably meant.
fn similar(topic: &str) -> Option<&'static str> {
    let topic = topic.to_lowercase();
    let names = || TOPICS.iter().flat_map(|it| it.names).copied();
    let related = |name: &&str| topic.contains(name) || name.contains(&topic);
    let nearest = names().min_by_key(|name| distance(name, &topic));
    let is_near = |name: &&str| distance(name, &topic) <= 1 + topic.chars().count() / 4;
    nearest
        .filter(is_near)
        .or_else(|| names().find(|name| topic.len() > 2 && related(name)))
}

/// How many letters must be added, left out or changed to make one of the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, letter) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in right.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Check, Memory};
    use crate::options::ENGINES;
    use clap::ValueEnum;

    /// Whatever a user can name or meet has a text.
    #[test]
    fn nothing_is_unexplained() {
        let engines = ENGINES.iter().map(|(name, _)| (*name).to_owned());
        let checks = Check::value_variants().iter().map(|it| name_of(*it));
        let models = Memory::value_variants().iter().map(|it| name_of(*it));
        let kinds = raddle_report::words::KINDS
            .iter()
            .map(|(kind, _)| (*kind).to_owned());
        let verdicts = ["verified", "violation", "inconclusive", "unsupported"].map(str::to_owned);
        for topic in engines
            .chain(checks)
            .chain(models)
            .chain(kinds)
            .chain(verdicts)
        {
            assert!(explain(Some(&topic), 80).is_ok(), "{topic}");
        }
    }

    #[test]
    fn each_topic_is_listed_once() {
        let mut listed: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, topics)| *topics)
            .copied()
            .collect();
        let mut known: Vec<&str> = TOPICS.iter().map(|topic| topic.names[0]).collect();
        listed.sort_unstable();
        known.sort_unstable();
        assert_eq!(listed, known);
    }

    #[test]
    fn texts_fit_on_the_page() {
        for topic in TOPICS.iter().map(|topic| topic.names[0]) {
            let text = explain(Some(topic), 60).unwrap();
            assert!(
                text.lines().all(|line| line.chars().count() <= 60),
                "{text}"
            );
        }
        assert!(list(60).lines().all(|line| line.len() <= 60));
    }

    #[test]
    fn what_was_probably_meant_is_found() {
        assert_eq!(similar("deadlok"), Some("deadlock"));
        assert_eq!(similar("Races"), Some("race"));
        assert_eq!(similar("free"), Some("use-after-free"));
        assert_eq!(similar("kubernetes"), None);
        assert_eq!(distance("rf", "rvf"), 1);
    }

    #[test]
    fn each_name_stands_for_one_topic() {
        let mut names: Vec<_> = TOPICS.iter().flat_map(|topic| topic.names).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}

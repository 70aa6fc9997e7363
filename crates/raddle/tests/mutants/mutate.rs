//! Small changes to programs: statements that are dropped, doubled, swapped, moved to other functions, put into atomic blocks,
//! critical sections, branches and loops; other sizes, orderings and numbers.
//!
//! Where a mutation is applied depends on its seed and on the program alone, so leaving some out leaves the others what they are, as
//! far as that makes sense.

use super::ir::{Block, Function, Item, Module, Statement, defined, names, rename, used};
use raddle_random::RandomIndex as Rng;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Drop,
    Double,
    Swap,
    /// Copies a statement to another place, maybe of another function.
    Copy,
    AtomicBlock,
    CriticalSection,
    Assume,
    Branch,
    Loop,
    Ordering,
    /// Makes a plain access atomic, or the other way round.
    Atomicity,
    Size,
    Number,
    /// Calls a function that nobody knows.
    Unknown,
}

/// The more often, the likelier.
const KINDS: [Kind; 27] = [
    Kind::Drop,
    Kind::Drop,
    Kind::Double,
    Kind::Double,
    Kind::Swap,
    Kind::Swap,
    Kind::Swap,
    Kind::Copy,
    Kind::Copy,
    Kind::Copy,
    Kind::AtomicBlock,
    Kind::AtomicBlock,
    Kind::AtomicBlock,
    Kind::CriticalSection,
    Kind::CriticalSection,
    Kind::Assume,
    Kind::Assume,
    Kind::Branch,
    Kind::Branch,
    Kind::Branch,
    Kind::Loop,
    Kind::Ordering,
    Kind::Atomicity,
    Kind::Size,
    Kind::Number,
    Kind::Number,
    Kind::Unknown,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mutation {
    pub(crate) kind: Kind,
    pub(crate) seed: u64,
}

impl Mutation {
    pub(crate) fn random(rng: &mut Rng) -> Self {
        Self {
            kind: KINDS[rng.below(KINDS.len())],
            seed: rng.next_u64(),
        }
    }

    /// Applies it, if it can be applied. `serial` tells it from the others.
    pub(crate) fn apply(self, module: &mut Module, serial: usize) {
        let rng = &mut Rng::new(self.seed);
        let name = format!("m{serial}");
        // A mutation that finds nothing to change changes nothing.
        let _ = match self.kind {
            Kind::Drop => drop_statement(module, rng),
            Kind::Double => double_statement(module, rng, &name),
            Kind::Swap => swap_statements(module, rng),
            Kind::Copy => copy_statement(module, rng, &name),
            Kind::AtomicBlock => {
                let begin = "  call void @__VERIFIER_atomic_begin()".to_owned();
                let end = "  call void @__VERIFIER_atomic_end()".to_owned();
                for name in ["__VERIFIER_atomic_begin", "__VERIFIER_atomic_end"] {
                    module.declare(name, &format!("declare void @{name}()"));
                }
                surround(module, rng, vec![begin], vec![end])
            }
            Kind::CriticalSection => lock_statements(module, rng, &name),
            Kind::Assume => assume(module, rng, &name),
            Kind::Branch => branch(module, rng, &name, false),
            Kind::Loop => branch(module, rng, &name, true),
            Kind::Ordering => change_one(module, rng, &reorder),
            Kind::Atomicity => change_one(module, rng, &make_atomic_or_not),
            Kind::Size => change_one(module, rng, &narrow),
            Kind::Number => change_one(module, rng, &renumber),
            Kind::Unknown => {
                module.declare("raddle.unknown", "declare void @raddle.unknown()");
                surround(
                    module,
                    rng,
                    vec!["  call void @raddle.unknown()".into()],
                    vec![],
                )
            }
        };
    }
}

// ---- places

/// A function that has statements, and one of them.
fn place<'m>(
    module: &'m mut Module,
    rng: &mut Rng,
    wanted: &dyn Fn(&Statement) -> bool,
) -> Option<(&'m mut Function, Vec<Statement>, usize)> {
    let mut places = Vec::new();
    for (at, function) in module.functions().enumerate() {
        let statements = function.statements();
        let found = (0..statements.len()).filter(|&index| wanted(&statements[index]));
        places.extend(found.map(|index| (at, index)));
    }
    let (at, index) = rng.one_of(&places)?;
    let function = module.functions_mut().nth(at)?;
    let statements = function.statements();
    Some((function, statements, index))
}

/// A few statements of one block.
fn stretch(
    rng: &mut Rng,
    statements: &[Statement],
    first: usize,
    wanted: &dyn Fn(&Statement) -> bool,
) -> Statement {
    let mut all = statements[first];
    let more = rng.below(4);
    for next in statements[first + 1..].iter().take(more) {
        if next.block != all.block || !wanted(next) {
            break;
        }
        all.end = next.end;
    }
    all
}

fn renamed(insts: &[String], name: &str) -> Vec<String> {
    let own: BTreeSet<&str> = insts.iter().filter_map(|inst| defined(inst)).collect();
    let new = |old: &str| own.contains(old).then(|| format!("{name}.{old}"));
    insts.iter().map(|inst| rename(inst, &new)).collect()
}

// ---- statements

fn drop_statement(module: &mut Module, rng: &mut Rng) -> Option<()> {
    let (function, statements, index) = place(module, rng, &|it| it.is_closed)?;
    let it = statements[index];
    function.blocks[it.block].insts.drain(it.start..it.end);
    Some(())
}

fn double_statement(module: &mut Module, rng: &mut Rng, name: &str) -> Option<()> {
    let (function, statements, index) = place(module, rng, &|it| it.is_closed)?;
    let it = stretch(rng, &statements, index, &|it| it.is_closed);
    let insts = &mut function.blocks[it.block].insts;
    let copy = renamed(&insts[it.start..it.end], name);
    insts.splice(it.end..it.end, copy);
    Some(())
}

fn swap_statements(module: &mut Module, rng: &mut Rng) -> Option<()> {
    let (function, statements, index) = place(module, rng, &|it| it.is_closed)?;
    let one = statements[index];
    let near = |it: &&Statement| it.block == one.block && it.is_closed && it.start >= one.end;
    let others: Vec<Statement> = statements.iter().filter(near).take(3).copied().collect();
    let other = rng.one_of(&others)?;
    let insts = &mut function.blocks[one.block].insts;
    let first = insts[one.start..one.end].to_vec();
    let between = insts[one.end..other.start].to_vec();
    let second = insts[other.start..other.end].to_vec();
    let swapped = [second, between, first].concat();
    insts.splice(one.start..other.end, swapped);
    Some(())
}

fn copy_statement(module: &mut Module, rng: &mut Rng, name: &str) -> Option<()> {
    let mut candidates = Vec::new();
    for function in module.functions() {
        for it in function.statements().iter().filter(|it| it.is_closed) {
            let insts = &function.blocks[it.block].insts[it.start..it.end];
            let own: BTreeSet<&str> = insts.iter().filter_map(|inst| defined(inst)).collect();
            // Types look like registers.
            let is_known = |used: &str| own.contains(used) || used.starts_with("struct.");
            if insts.iter().all(|inst| used(inst).all(is_known)) {
                candidates.push(insts.to_vec());
            }
        }
    }
    let insts = renamed(&rng.one_of(&candidates)?, name);
    let mut changed = module.clone();
    surround(&mut changed, rng, insts, vec![])?;
    // A function that calls itself for ever is nothing that an engine could have an answer for.
    if changed.functions().filter(|it| calls_itself(it)).count()
        > module.functions().filter(|it| calls_itself(it)).count()
    {
        return None;
    }
    *module = changed;
    Some(())
}

fn calls_itself(function: &Function) -> bool {
    let call = format!("@{}(", function.name());
    let mut insts = function.blocks.iter().flat_map(|block| &block.insts);
    insts.any(|inst| inst.contains(" call ") && inst.contains(&call))
}

/// Puts something before and after a few statements.
fn surround(
    module: &mut Module,
    rng: &mut Rng,
    before: Vec<String>,
    after: Vec<String>,
) -> Option<()> {
    let (function, statements, index) = place(module, rng, &|_| true)?;
    let it = stretch(rng, &statements, index, &|_| true);
    let insts = &mut function.blocks[it.block].insts;
    insts.splice(it.end..it.end, after);
    insts.splice(it.start..it.start, before);
    Some(())
}

fn lock_statements(module: &mut Module, rng: &mut Rng, name: &str) -> Option<()> {
    let mut mutexes: Vec<String> = Vec::new();
    for function in module.functions() {
        for inst in function.blocks.iter().flat_map(|block| &block.insts) {
            let named: Vec<&str> = names(inst, '@').collect();
            if let ["pthread_mutex_lock", mutex] = named[..]
                && !inst.contains("getelementptr")
            {
                mutexes.push(mutex.to_owned());
            }
        }
    }
    mutexes.push("raddle.mutex".to_owned());
    let mutex = rng.one_of(&mutexes)?;
    module.declare(
        "raddle.mutex",
        "@raddle.mutex = internal global [40 x i8] zeroinitializer, align 8",
    );
    for function in ["pthread_mutex_lock", "pthread_mutex_unlock"] {
        module.declare(function, &format!("declare i32 @{function}(ptr noundef)"));
    }
    let call = |what: &str| {
        format!("  %{name}.{what} = call i32 @pthread_mutex_{what}(ptr noundef @{mutex})")
    };
    surround(module, rng, vec![call("lock")], vec![call("unlock")])
}

/// Variables of 32 bits.
fn variables(module: &Module) -> Vec<String> {
    let is_variable = |line: &&str| line.starts_with('@') && line.contains(" global i32 ");
    let lines = module.lines().filter(is_variable);
    lines
        .filter_map(|line| names(line, '@').next().map(str::to_owned))
        .collect()
}

/// Reads a variable and compares it; the result is `%NAME.is`.
fn question(module: &Module, rng: &mut Rng, name: &str) -> Option<Vec<String>> {
    let variable = rng.one_of(&variables(module))?;
    let how = match rng.below(3) {
        0 => format!("load i32, ptr @{variable}, align 4"),
        _ => format!("load atomic i32, ptr @{variable} seq_cst, align 4"),
    };
    let predicate = rng.one_of(&["eq", "ne", "slt"])?;
    let number = rng.below(3);
    Some(vec![
        format!("  %{name}.value = {how}"),
        format!("  %{name}.is = icmp {predicate} i32 %{name}.value, {number}"),
    ])
}

fn assume(module: &mut Module, rng: &mut Rng, name: &str) -> Option<()> {
    let mut insts = question(module, rng, name)?;
    insts.push(format!("  %{name}.wide = zext i1 %{name}.is to i32"));
    insts.push(format!("  call void @__VERIFIER_assume(i32 %{name}.wide)"));
    let assume = "__VERIFIER_assume";
    module.declare(assume, "declare void @__VERIFIER_assume(i32)");
    surround(module, rng, insts, vec![])
}

/// Puts a few statements into a branch or a loop.
fn branch(module: &mut Module, rng: &mut Rng, name: &str, is_loop: bool) -> Option<()> {
    let nondet = "__VERIFIER_nondet_bool";
    let asked = match rng.below(3) {
        0 => question(module, rng, name),
        _ => None,
    };
    let asked = asked.unwrap_or_else(|| vec![format!("  %{name}.is = call i1 @{nondet}()")]);
    module.declare(nondet, &format!("declare i1 @{nondet}()"));
    let (function, statements, index) = place(module, rng, &|it| it.is_closed)?;
    let it = stretch(rng, &statements, index, &|it| it.is_closed);
    let block = &mut function.blocks[it.block];
    let label = block.label.clone();
    let rest = block.insts.split_off(it.end);
    let inner = block.insts.split_off(it.start);
    let to = |what: &str| format!("  br label %{name}.{what}");
    let choice = format!("  br i1 %{name}.is, label %{name}.then, label %{name}.join");
    let made = |what: &str, insts: Vec<String>| Block {
        label: format!("{name}.{what}"),
        insts,
    };
    let mut blocks = Vec::new();
    let back = match is_loop {
        true => {
            block.insts.push(to("head"));
            blocks.push(made("head", [asked, vec![choice]].concat()));
            to("head")
        }
        false => {
            block.insts.extend(asked);
            block.insts.push(choice);
            to("join")
        }
    };
    blocks.push(made("then", [inner, vec![back]].concat()));
    blocks.push(made("join", rest));
    let at = it.block + 1;
    function.blocks.splice(at..at, blocks);
    // What came from the block comes from its end now.
    let (old, new) = (format!(", %{label} ]"), format!(", %{name}.join ]"));
    for inst in function
        .blocks
        .iter_mut()
        .flat_map(|block| &mut block.insts)
    {
        if inst.contains(" = phi ") {
            *inst = inst.replace(&old, &new);
        }
    }
    Some(())
}

// ---- instructions

/// Changes one instruction that can be changed this way.
fn change_one(
    module: &mut Module,
    rng: &mut Rng,
    change: &dyn Fn(&str, &mut Rng) -> Option<Vec<String>>,
) -> Option<()> {
    let seed = rng.next_u64();
    let mut places = Vec::new();
    for (at, function) in module.functions().enumerate() {
        for (block, insts) in function.blocks.iter().enumerate() {
            for (index, inst) in insts.insts.iter().enumerate() {
                if change(inst, &mut Rng::new(seed)).is_some() {
                    places.push((at, block, index));
                }
            }
        }
    }
    let (at, block, index) = rng.one_of(&places)?;
    let function = module.functions_mut().nth(at)?;
    let insts = &mut function.blocks[block].insts;
    let changed = change(&insts[index], &mut Rng::new(seed))?;
    insts.splice(index..=index, changed);
    Some(())
}

const ORDERINGS: [&str; 5] = ["monotonic", "acquire", "release", "acq_rel", "seq_cst"];

fn reorder(inst: &str, rng: &mut Rng) -> Option<Vec<String>> {
    let allowed: &[&str] = if inst.contains(" load atomic ") {
        &["monotonic", "acquire", "seq_cst"]
    } else if inst.contains(" store atomic ") {
        &["monotonic", "release", "seq_cst"]
    } else if inst.contains(" atomicrmw ") {
        &ORDERINGS
    } else if inst.contains(" fence ") {
        &ORDERINGS[1..]
    } else {
        return None;
    };
    let old = ORDERINGS
        .iter()
        .find(|order| inst.contains(&format!(" {order}")))?;
    let new = rng.one_of(allowed)?;
    let changed = inst.replacen(&format!(" {old}"), &format!(" {new}"), 1);
    (changed != inst).then_some(vec![changed])
}

/// Is it an access to a variable that others may see?
fn is_shared(inst: &str) -> bool {
    inst.contains(", ptr @")
}

fn make_atomic_or_not(inst: &str, rng: &mut Rng) -> Option<Vec<String>> {
    if !is_shared(inst) {
        return None;
    }
    for access in ["load", "store"] {
        let (plain, atomic) = (format!(" {access} i"), format!(" {access} atomic i"));
        if let Some(at) = inst.find(&atomic) {
            let mut changed = inst.to_owned();
            changed.replace_range(at..at + atomic.len(), &plain);
            for order in ORDERINGS {
                changed = changed.replace(&format!(" {order}, align"), ", align");
            }
            return Some(vec![changed]);
        }
        let sizes = [" i8", " i16", " i32", " i64"];
        let is_whole = sizes
            .iter()
            .any(|size| inst.contains(&format!(" {access}{size}")));
        if is_whole && inst.contains(&plain) {
            let orders = if access == "load" {
                ["monotonic", "acquire", "seq_cst"]
            } else {
                ["monotonic", "release", "seq_cst"]
            };
            let order = orders[rng.below(orders.len())];
            let changed = inst.replacen(&plain, &atomic, 1);
            return Some(vec![changed.replacen(
                ", align",
                &format!(" {order}, align"),
                1,
            )]);
        }
    }
    None
}

/// Makes an access narrower.
fn narrow(inst: &str, rng: &mut Rng) -> Option<Vec<String>> {
    let (wide, smaller): (&str, &[&str]) = if inst.contains("i64") {
        ("i64", &["i32", "i16", "i8"])
    } else {
        ("i32", &["i16", "i8"])
    };
    let narrow = rng.one_of(smaller)?;
    if !is_shared(inst) {
        return None;
    }
    let accesses = |what: &str| {
        inst.contains(&format!(" {what} {wide}"))
            || inst.contains(&format!(" {what} atomic {wide}"))
    };
    if accesses("load") {
        let name = defined(inst)?;
        let (_, rest) = inst.split_once(" = ")?;
        let rest = rest.replacen(wide, narrow, 1);
        return Some(vec![
            format!("  %{name}.narrow = {rest}"),
            format!("  %{name} = zext {narrow} %{name}.narrow to {wide}"),
        ]);
    }
    if accesses("store") {
        let (before, rest) = inst.split_once(wide)?;
        let (value, rest) = rest.trim_start().split_once(',')?;
        if value.starts_with('%') {
            let half = format!("{value}.narrow");
            return Some(vec![
                format!("  {half} = trunc {wide} {value} to {narrow}"),
                format!("{before}{narrow} {half},{rest}"),
            ]);
        }
        let number: i64 = value.parse().ok()?;
        let bits: u32 = narrow[1..].parse().ok()?;
        let number = number & ((1 << bits) - 1);
        return Some(vec![format!("{before}{narrow} {number},{rest}")]);
    }
    None
}

fn renumber(inst: &str, rng: &mut Rng) -> Option<Vec<String>> {
    let trimmed = inst.trim_start();
    let number = rng.one_of(&["0", "1", "2", "3", "-1"])?;
    if trimmed.contains(" = icmp ") || trimmed.contains(" = add ") || trimmed.contains(" = sub ") {
        let predicates = [
            ("eq", "ne"),
            ("ne", "eq"),
            ("slt", "sle"),
            ("sgt", "sge"),
            ("sle", "slt"),
        ];
        if rng.below(2) == 0
            && let Some((old, new)) = predicates
                .iter()
                .find(|(old, _)| trimmed.contains(&format!(" icmp {old} ")))
        {
            return Some(vec![inst.replacen(
                &format!(" icmp {old} "),
                &format!(" icmp {new} "),
                1,
            )]);
        }
        let (before, last) = inst.rsplit_once(", ")?;
        last.parse::<i64>().ok()?;
        return (last != number).then(|| vec![format!("{before}, {number}")]);
    }
    let (before, rest) = inst.split_once(" i32 ")?;
    let (value, rest) = rest.split_once(',')?;
    value.parse::<i64>().ok()?;
    (trimmed.starts_with("store ") && value != number)
        .then(|| vec![format!("{before} i32 {number},{rest}")])
}

// ---- shrinking

/// Everything that can be left out of a program, one at a time: functions that nobody calls, statements, branches.
pub(crate) fn smaller(module: &Module) -> impl Iterator<Item = Module> + '_ {
    let statements = module.functions().enumerate().flat_map(|(at, function)| {
        let statements = function.statements();
        let droppable = statements.into_iter().filter(|it| it.is_closed);
        droppable.map(move |it| (at, it))
    });
    let without_statement = statements.map(|(at, it)| {
        let mut smaller = module.clone();
        if let Some(function) = smaller.functions_mut().nth(at) {
            function.blocks[it.block].insts.drain(it.start..it.end);
        }
        smaller
    });
    let without_branch = module
        .functions()
        .enumerate()
        .flat_map(move |(at, function)| {
            let blocks = 0..function.blocks.len();
            blocks.flat_map(move |block| {
                [0, 1].into_iter().filter_map(move |way| {
                    let mut smaller = module.clone();
                    let function = smaller.functions_mut().nth(at)?;
                    let is_taken = take_one_way(function, block, way);
                    is_taken.then_some(smaller)
                })
            })
        });
    let text = module.to_string();
    let without_item = (0..module.items.len()).filter_map(move |at| {
        let name = match &module.items[at] {
            Item::Function(function) => function.name(),
            Item::Line(line) => names(line, '@').next()?,
        };
        let is_used = names(&text, '@').filter(|other| *other == name).count() > 1;
        let mut smaller = module.clone();
        smaller.items.remove(at);
        (!is_used && name != "main").then_some(smaller)
    });
    without_statement.chain(without_branch).chain(without_item)
}

/// Makes a conditional branch an unconditional one, and leaves out blocks that are not reached any more.
fn take_one_way(function: &mut Function, block: usize, way: usize) -> bool {
    let Some(last) = function.blocks[block].insts.last_mut() else {
        return false;
    };
    let Some(rest) = last.trim_start().strip_prefix("br i1 ") else {
        return false;
    };
    let Some(target) = rest.split("label %").nth(way + 1) else {
        return false;
    };
    let target = target.trim_end_matches([',', ' ']).to_owned();
    *last = format!("  br label %{target}");
    let mut reached: BTreeSet<String> = BTreeSet::new();
    let mut open = vec![function.blocks[0].label.clone()];
    while let Some(label) = open.pop() {
        if reached.insert(label.clone())
            && let Some(block) = function.blocks.iter().find(|block| block.label == label)
            && let Some(last) = block.insts.last()
        {
            let targets = last.split("label %").skip(1);
            open.extend(targets.map(|rest| {
                let end = rest.find([',', ' ', '\n']).unwrap_or(rest.len());
                rest[..end].to_owned()
            }));
        }
    }
    // φs would have to be changed as well.
    let has_phi = |block: &Block| block.insts.iter().any(|inst| inst.contains(" = phi "));
    if function.blocks.iter().any(has_phi) {
        return false;
    }
    function
        .blocks
        .retain(|block| reached.contains(&block.label));
    true
}

//! What real compilers print must be read, all of it, and mean what the source says.

use raddle_ir::debug::{DebugVariable, SourceType, SourceTypeId};
use raddle_ir::inst::RmwOp;
use raddle_ir::{
    Body, Constant, FuncId, InstKind, Module, Symbol, Terminator, Type, parse_module, verify,
};
use std::path::Path;

/// A fixture with all of its bodies.
fn load(name: &str) -> (Module, Vec<(String, Body)>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name);
    let text = std::fs::read_to_string(&path).expect("the fixture is there");
    let mut module = parse_module(text, name).unwrap_or_else(|e| panic!("{e}"));
    let mut bodies = Vec::new();
    for id in (0..module.functions.len()).map(FuncId::from_index) {
        if module.function(id).is_declaration {
            continue;
        }
        let body = module.parse_body(id).unwrap_or_else(|e| panic!("{e}"));
        let function = module.function(id).name.to_string();
        verify(&module, &body).unwrap_or_else(|e| panic!("{name}: @{function}: {e}"));
        bodies.push((function, body));
    }
    (module, bodies)
}

fn body<'a>(bodies: &'a [(String, Body)], name: &str) -> &'a Body {
    let found = bodies.iter().find(|(function, _)| function.contains(name));
    &found.unwrap_or_else(|| panic!("no {name}")).1
}

fn kinds(body: &Body) -> impl Iterator<Item = &InstKind> {
    body.blocks
        .iter()
        .flat_map(|b| &b.insts)
        .map(|inst| &inst.kind)
}

const STACK: [&str; 4] = [
    "stack.clang14.O0.g.ll",
    "stack.clang14.O2.ll",
    "stack.clang16.O1.ll",
    "stack.clang19.O0.g.ll",
];

#[test]
fn c_means_the_same_in_every_version() {
    for name in STACK {
        let (module, bodies) = load(name);
        let main = body(&bodies, "main");
        assert_eq!(main.param_count, 2, "{name}");
        let worker = body(&bodies, "worker");
        assert!(
            kinds(worker).any(|k| matches!(k, InstKind::AtomicRmw { op: RmwOp::Add, .. })),
            "{name}"
        );
        let exchanges = bodies.iter().flat_map(|(_, body)| kinds(body));
        let weak = exchanges.filter(|k| matches!(k, InstKind::CmpXchg { weak: true, .. }));
        assert!(weak.count() >= 1, "{name}");
        let names = |ids: &[FuncId]| {
            ids.iter()
                .map(|&id| module.function(id).name.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&module.constructors), ["early"], "{name}");
        assert_eq!(names(&module.destructors), ["late"], "{name}");
        let global = |name: &str| {
            module
                .globals
                .iter()
                .find(|g| &*g.name == name)
                .expect("a global")
        };
        assert!(global("depth").thread_local, "{name}");
        let big = global("big").initializer.map(|id| module.constant(id));
        assert!(
            matches!(big, Some(Constant::Int(_, bits)) if *bits == 1 << 100),
            "{name}"
        );
        let wide = global("wide").initializer.map(|id| module.constant(id));
        assert!(
            matches!(wide, Some(Constant::Float(_, bits)) if *bits == 0x3fff_c000 << 48),
            "{name}"
        );
        let greeting = global("greeting").initializer.map(|id| module.constant(id));
        let Some(&Constant::Global(text)) = greeting else {
            panic!("{name}: {greeting:?}")
        };
        let text = module
            .global(text)
            .initializer
            .map(|id| module.constant(id));
        assert!(
            matches!(text, Some(Constant::Bytes(_, b)) if **b == *b"a \"b\" {\n\0"),
            "{name}"
        );
    }
}

#[test]
fn switches_keep_their_cases() {
    for name in ["stack.clang14.O0.g.ll", "stack.clang19.O0.g.ll"] {
        let (_, bodies) = load(name);
        let cases = body(&bodies, "classify")
            .blocks
            .iter()
            .find_map(|b| match &b.terminator {
                Terminator::Switch { cases, .. } => {
                    Some(cases.iter().map(|c| c.0).collect::<Vec<_>>())
                }
                _ => None,
            });
        assert_eq!(
            cases.as_deref(),
            Some(&[0, 0xffff_fff9, 100_000][..]),
            "{name}"
        );
    }
}

/// A source type as C would write it, to compare.
fn describe(module: &Module, id: SourceTypeId) -> String {
    match module.debug.source_type(id) {
        SourceType::Scalar { name, size, .. } => format!("{name}:{size}"),
        SourceType::Enum { size, .. } => format!("enum:{size}"),
        SourceType::Pointer { to: Some(to) } => match module.debug.source_type(*to) {
            SourceType::Record { name, .. } => format!("{name}*"),
            _ => format!("{}*", describe(module, *to)),
        },
        SourceType::Pointer { to: None } => "void*".into(),
        SourceType::Bits { of, first, len } => {
            format!("{}:{first}+{len}", describe(module, *of))
        }
        SourceType::Array { element, len } => format!("{}[{len}]", describe(module, *element)),
        SourceType::Record { name, fields, .. } => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, offset, ty)| format!("{name}@{offset} {}", describe(module, *ty)))
                .collect();
            format!("{name}{{{}}}", fields.join(", "))
        }
    }
}

fn variables(body: &Body) -> Vec<&DebugVariable> {
    body.variables
        .iter()
        .map(|(_, variable)| variable)
        .collect()
}

#[test]
fn debug_metadata_names_variables_fields_and_positions() {
    for name in ["stack.clang14.O0.g.ll", "stack.clang19.O0.g.ll"] {
        let (module, bodies) = load(name);
        let stack = module
            .globals
            .iter()
            .find(|g| &*g.name == "stack")
            .expect("a global");
        assert_eq!(stack.source_name.as_deref(), Some("stack"));
        assert_eq!(
            describe(&module, stack.source_type.expect("a type")),
            "stack_type{head@0 node*, items@8 node{value@0 int:4, next@8 node*}[4], tag@72 {whole@0 int:4, half@0 short:2[2]}}",
            "{name}"
        );
        let worker = body(&bodies, "worker");
        let names: Vec<&str> = variables(worker).iter().map(|v| &*v.name).collect();
        assert_eq!(names, ["arg", "n", "i"], "{name}");
        assert!(variables(worker)[0].is_parameter && !variables(worker)[1].is_parameter);
        assert!(
            variables(worker).iter().all(|v| v.is_address),
            "-O0 keeps all in memory"
        );
        let mut insts = worker.blocks.iter().flat_map(|b| &b.insts);
        let rmw = insts
            .rfind(|i| matches!(i.kind, InstKind::AtomicRmw { .. }))
            .expect("there is one");
        let loc = module.debug.loc(rmw.loc.expect("a position"));
        assert_eq!((&*loc.file, loc.line), ("/src/stack.c", 52), "{name}");
        assert_eq!(loc.function.as_deref(), Some("worker"));
        let main = module.function_named("main").expect("defined");
        let defined = module
            .function(main)
            .defined_at
            .as_ref()
            .expect("a position");
        assert_eq!(
            (&*defined.file, defined.line),
            ("/src/stack.c", 59),
            "{name}"
        );
    }
}

#[test]
fn inlined_positions_lead_back_to_the_caller() {
    let (module, bodies) = load("shapes.clang19.O1.g.ll");
    let inlined = bodies
        .iter()
        .flat_map(|(_, body)| &body.blocks)
        .flat_map(|b| &b.insts);
    let outer = inlined
        .filter_map(|inst| module.debug.loc(inst.loc?).inlined_at)
        .map(|at| module.debug.loc(at));
    assert!(outer.clone().count() > 5);
    for loc in outer {
        assert_eq!(&*loc.file, "/src/shapes.cc");
        assert!(loc.function.is_some());
    }
}

#[test]
fn cpp_throws_catches_and_dispatches() {
    for name in ["shapes.clang14.O1.ll", "shapes.clang19.O1.g.ll"] {
        let (module, bodies) = load(name);
        let caught = body(&bodies, "_Z6caughti");
        let invokes = caught
            .blocks
            .iter()
            .filter(|b| matches!(b.terminator, Terminator::Invoke { .. }));
        assert!(invokes.count() >= 1, "{name}");
        assert!(
            kinds(caught).any(|k| matches!(k, InstKind::LandingPad { .. })),
            "{name}"
        );
        // The table of virtual functions holds functions, with two address points.
        let table = module
            .globals
            .iter()
            .find(|g| &*g.name == "_ZTV6Square")
            .expect("a table");
        let Some(Constant::Aggregate(_, parts)) = table.initializer.map(|id| module.constant(id))
        else {
            panic!("{name}")
        };
        let Constant::Aggregate(_, slots) = module.constant(parts[0]) else {
            panic!("{name}")
        };
        let functions = slots
            .iter()
            .filter(|&&slot| matches!(module.constant(slot), Constant::Function(_)));
        assert_eq!(functions.count(), 4, "{name}: two destructors, area, name");
        // The older one ran it at compile time.
        let constructors = usize::from(name.contains("clang19"));
        assert_eq!(module.constructors.len(), constructors, "{name}");
        assert!(matches!(module.symbols["_ZTI6Square"], Symbol::Global(_)));
    }
}

#[test]
fn rust_is_read_as_well() {
    let (module, bodies) = load("counter.rustc.O1.g.ll");
    let spin = body(&bodies, "4spin");
    assert!(kinds(spin).any(|k| matches!(k, InstKind::CmpXchg { weak: true, .. })));
    assert!(kinds(spin).any(|k| matches!(k, InstKind::Fence { .. })));
    assert!(kinds(spin).any(|k| matches!(
        k,
        InstKind::AtomicRmw {
            op: RmwOp::UMax,
            ..
        }
    )));
    let walk = body(&bodies, "4walk");
    let loads = kinds(walk).filter(|k| matches!(k, InstKind::Load { ty, atomic: Some(_), .. } if *module.types.get(*ty) == Type::Ptr));
    assert_eq!(loads.count(), 1, "an atomic pointer");
    let counter = module
        .globals
        .iter()
        .find(|g| g.source_name.as_deref() == Some("COUNTER"));
    let ty = counter.and_then(|g| g.source_type).expect("described");
    assert!(
        describe(&module, ty).contains("AtomicUsize{v@0 UnsafeCell<usize>{value@0 usize:8}}"),
        "{}",
        describe(&module, ty)
    );
    let names: Vec<&str> = variables(walk).iter().map(|v| &*v.name).collect();
    assert!(
        names.contains(&"steps") && names.contains(&"node"),
        "{names:?}"
    );
}

//! Every function of every fixture goes through the passes and stays well-formed.

use raddle_ir::passes::{BodyProvider, Cfg, Dominators, Escapes, LivePoints, Loops, prepare};
use raddle_ir::{BlockId, Body, FuncId, InstKind, Module, parse_module, verify};
use std::collections::HashMap;
use std::path::Path;

#[derive(Default)]
struct Prepared {
    bodies: HashMap<FuncId, Body>,
    allocas: [usize; 2],
}

fn allocas(body: &Body) -> usize {
    let insts = body.blocks.iter().flat_map(|block| &block.insts);
    insts
        .filter(|inst| matches!(inst.kind, InstKind::Alloca { .. }))
        .count()
}

impl BodyProvider for Prepared {
    fn body(&mut self, module: &mut Module, function: FuncId) -> Option<&Body> {
        if module.function(function).is_declaration {
            return None;
        }
        if !self.bodies.contains_key(&function) {
            let raw = module.parse_body(function).expect("a body");
            self.allocas[0] += allocas(&raw);
            let body = prepare(module, raw);
            self.allocas[1] += allocas(&body);
            self.bodies.insert(function, body);
        }
        self.bodies.get(&function)
    }
}

fn run(path: &Path) -> [usize; 2] {
    let text = std::fs::read_to_string(path).expect("a readable fixture");
    let mut module = parse_module(text, "fixture").expect("a module");
    let mut prepared = Prepared::default();
    let functions: Vec<_> = (0..module.functions.len())
        .map(FuncId::from_index)
        .collect();
    let mut escapes = Escapes::new(&|_, _| false);
    for &function in &functions {
        let Some(body) = prepared.body(&mut module, function).cloned() else {
            continue;
        };
        verify(&module, &body).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
        assert_eq!(prepare(&mut module, body.clone()), body);
        let cfg = Cfg::new(&body);
        assert!(Loops::new(&cfg, &Dominators::new(&cfg)).is_reducible());
        let mut points = LivePoints::new(&body);
        for (index, block) in body.blocks.iter().enumerate() {
            for inst in 0..=block.insts.len() {
                points.after(&body, BlockId::from_index(index), inst);
            }
        }
        let info = escapes.analyse(&mut module, &mut prepared, function);
        assert!(info.private.count() <= allocas(&body) + body.param_count as usize);
    }
    escapes.private_thread_locals(&mut module, &mut prepared, &functions);
    prepared.allocas
}

#[test]
fn all_fixtures() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut seen = 0;
    for entry in std::fs::read_dir(fixtures).expect("fixtures") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "ll") {
            continue;
        }
        seen += 1;
        let [before, after] = run(&path);
        if path.to_string_lossy().contains(".O0.") {
            assert!(after * 3 < before, "{after} of {before} variables left");
        }
    }
    assert!(seen > 5);
}

//! LLVM IR as text, cut down to what a program reaches.
//!
//! rustc writes one module with the standard library in it, and most of that is never called: of 40 MB some 2 MB are left. This is done
//! on the text, line by line, since nothing needs to be understood for it: what a definition mentions stays. A name inside of a string
//! counts as mentioned, which keeps too much and never too little.

use memchr::{memchr, memchr_iter, memchr2_iter};
use rustc_hash::FxHashMap;

/// The definitions of a module by name.
pub(crate) struct IrText<'t> {
    text: &'t str,
    /// In the order of the text.
    items: Vec<Item>,
    symbols: FxHashMap<&'t str, usize>,
    nodes: FxHashMap<u32, usize>,
}

#[derive(Clone, Copy)]
struct Item {
    start: usize,
    end: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The layout of data, types, attributes: small, and always kept.
    Always,
    /// What is kept if it is mentioned: a function, a variable, a node.
    Mentioned,
    /// Runs before `main`, or lists what does.
    Root,
    /// Means something to linkers and debuggers only.
    Never,
}

/// Fields of a compile unit that list everything there is.
const LISTS_OF_UNITS: [&str; 5] = [
    ", enums: !",
    ", retainedTypes: !",
    ", globals: !",
    ", imports: !",
    ", macros: !",
];

/// Part of the names of functions that are left out, although a panic might reach them: they look for the names of functions in the
/// program's file when a backtrace is printed, which never happens here, and they are most of what a small program reaches.
const LEFT_OUT: &str = "12backtrace_rs9symbolize";
/// Their bodies. Whoever comes there is told that it cannot be run.
const INSTEAD: &str = "\n  call void @raddle_symbolize_backtrace()\n  unreachable\n}";
const INSTEAD_CALLED: &str = "raddle_symbolize_backtrace";
const INSTEAD_DECLARED: &str = "declare void @raddle_symbolize_backtrace()\n";

impl<'t> IrText<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let mut module = Self {
            text,
            items: Vec::new(),
            symbols: FxHashMap::default(),
            nodes: FxHashMap::default(),
        };
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let line_end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
            let line = &text[at..line_end];
            let end = if line.starts_with("define ") {
                end_of_function(bytes, line_end)
            } else {
                line_end
            };
            module.add(line, at, end);
            at = end + 1;
        }
        module
    }

    fn add(&mut self, line: &'t str, start: usize, end: usize) {
        let index = self.items.len();
        let kind = match line.as_bytes().first() {
            None | Some(b';') => return,
            Some(b'@') => {
                let (name, _) = name_at(line, 1);
                self.symbols.insert(name, index);
                match name {
                    "llvm.global_ctors" | "llvm.global_dtors" => Kind::Root,
                    "llvm.used" | "llvm.compiler.used" => Kind::Never,
                    _ if line.contains("section \".init_array") => Kind::Root,
                    _ => Kind::Mentioned,
                }
            }
            Some(b'!') => match number_at(line, 1) {
                Some(number) => {
                    self.nodes.insert(number, index);
                    Kind::Mentioned
                }
                None if line.starts_with("!llvm.module.flags") => Kind::Root,
                None => Kind::Never,
            },
            Some(b'd') if line.starts_with("define ") || line.starts_with("declare ") => {
                if let Some(at) = memchr(b'@', line.as_bytes()) {
                    let (name, _) = name_at(line, at + 1);
                    self.symbols.insert(name, index);
                }
                Kind::Mentioned
            }
            Some(_) => Kind::Always,
        };
        self.items.push(Item { start, end, kind });
    }

    fn item(&self, index: usize) -> &'t str {
        let item = self.items[index];
        &self.text[item.start..item.end]
    }

    /// The definition of `@name`.
    pub(crate) fn definition(&self, name: &str) -> Option<&'t str> {
        self.symbols.get(name).map(|&index| self.item(index))
    }

    /// All definitions, in order.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = &'t str> + '_ {
        (0..self.items.len()).map(|index| self.item(index))
    }

    /// The module with what `roots` reach. Definitions that are replaced count as what they become.
    pub(crate) fn reached_from(
        &self,
        roots: &[&str],
        replaced: &FxHashMap<&str, String>,
    ) -> String {
        let replaced: FxHashMap<usize, &str> = replaced
            .iter()
            .filter_map(|(name, text)| Some((*self.symbols.get(name)?, text.as_str())))
            .collect();
        let left_out = |index: usize| is_left_out(self.item(index));
        let mut keep = vec![false; self.items.len()];
        let mut left: Vec<usize> = (0..self.items.len())
            .filter(|&index| matches!(self.items[index].kind, Kind::Always | Kind::Root))
            .collect();
        left.extend(roots.iter().filter_map(|root| self.symbols.get(root)));
        for &index in &left {
            keep[index] = true;
        }
        while let Some(index) = left.pop() {
            let mut text = replaced.get(&index).copied();
            if left_out(index) {
                text = self.item(index).lines().next();
            }
            self.mentioned(text.unwrap_or_else(|| self.item(index)), &mut |index| {
                let is_wanted = self.items[index].kind != Kind::Never;
                if is_wanted && !std::mem::replace(&mut keep[index], true) {
                    left.push(index);
                }
            });
        }
        let mut out = String::new();
        let mut is_anything_left_out = false;
        for index in (0..self.items.len()).filter(|&index| keep[index]) {
            match replaced.get(&index) {
                Some(text) => out.push_str(text),
                None if left_out(index) => {
                    out.extend(self.item(index).lines().take(1).chain([INSTEAD]));
                    is_anything_left_out = true;
                }
                None => push_item(&mut out, self.item(index)),
            }
            out.push('\n');
        }
        let is_declared = self.symbols.get(INSTEAD_CALLED).is_some_and(|&at| keep[at]);
        if is_anything_left_out && !is_declared {
            out.push_str(INSTEAD_DECLARED);
        }
        out
    }

    /// Calls `found` with everything that the text of a definition mentions.
    fn mentioned(&self, text: &str, found: &mut dyn FnMut(usize)) {
        if is_unit(text) {
            let file = text.find("file: !").and_then(|at| number_at(text, at + 7));
            if let Some(&index) = file.and_then(|file| self.nodes.get(&file)) {
                found(index);
            }
            return;
        }
        for at in memchr2_iter(b'@', b'!', text.as_bytes()) {
            let index = if text.as_bytes()[at] == b'@' {
                self.symbols.get(name_at(text, at + 1).0)
            } else {
                number_at(text, at + 1).and_then(|number| self.nodes.get(&number))
            };
            if let Some(&index) = index {
                found(index);
            }
        }
    }
}

fn is_left_out(text: &str) -> bool {
    text.starts_with("define ")
        && memchr(b'@', text.as_bytes())
            .is_some_and(|at| name_at(text, at + 1).0.contains(LEFT_OUT))
}

fn is_unit(text: &str) -> bool {
    text.starts_with('!') && text.contains(" !DICompileUnit(")
}

/// Compile units without their lists: those would be lists of what is gone.
fn push_item(out: &mut String, text: &str) {
    if !is_unit(text) {
        out.push_str(text);
        return;
    }
    let mut text = text.to_owned();
    for list in LISTS_OF_UNITS {
        if let Some(at) = text.find(list) {
            let digits = text[at + list.len()..]
                .bytes()
                .take_while(u8::is_ascii_digit)
                .count();
            text.replace_range(at..at + list.len() + digits, "");
        }
    }
    out.push_str(&text);
}

/// Behind the `}` that is alone on its line.
fn end_of_function(bytes: &[u8], first_line_end: usize) -> usize {
    let newlines = memchr_iter(b'\n', &bytes[first_line_end..]);
    for newline in newlines {
        let at = first_line_end + newline + 1;
        if bytes.get(at) == Some(&b'}') && matches!(bytes.get(at + 1), None | Some(b'\n')) {
            return at + 1;
        }
    }
    bytes.len()
}

/// The name that starts at `at`, behind the `@`, without quotes; and where it ends.
pub(crate) fn name_at(text: &str, at: usize) -> (&str, usize) {
    let bytes = text.as_bytes();
    if bytes.get(at) == Some(&b'"') {
        let length = memchr(b'"', &bytes[at + 1..]).unwrap_or(bytes.len() - at - 1);
        return (&text[at + 1..at + 1 + length], at + 2 + length);
    }
    let rest = &bytes[at.min(bytes.len())..];
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-$._".contains(byte);
    let end = at + rest.iter().take_while(|byte| is_part(byte)).count();
    (&text[at..end], end)
}

fn number_at(text: &str, at: usize) -> Option<u32> {
    let rest = text.as_bytes().get(at..)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    text[at..at + digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
target triple = \"x86_64\"
@used = constant i32 1
@\"with space\" = constant ptr @deep
@deep = constant i32 2
@unused = constant i32 3
@llvm.used = appending global [1 x ptr] [ptr @unused]
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 1, ptr @early, ptr null }]

; Function Attrs: cold
define void @early() {
  ret void
}

define i32 @main() !dbg !3 {
start:
  %x = load i32, ptr @used
  %y = load ptr, ptr @\"with space\"
  call void @declared()
  ret i32 %x
}

define void @never() {
  call void @other()
  ret void
}

declare void @declared()
declare void @other()
attributes #0 = { cold }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!5}
!0 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !1, enums: !2, globals: !4, splitDebugInlining: false)
!1 = !DIFile(filename: \"a.rs\", directory: \"/\")
!2 = !{}
!3 = distinct !DISubprogram(name: \"main\", unit: !0)
!4 = !{!2}
!5 = !{i32 2, !\"Debug Info Version\", i32 3}
!6 = !{!\"gone\"}
";

    #[test]
    fn what_main_reaches_stays_and_nothing_else() {
        let kept = IrText::new(MODULE).reached_from(&["main"], &FxHashMap::default());
        for stays in [
            "target triple",
            "@used =",
            "@\"with space\"",
            "@deep",
            "@llvm.global_ctors",
            "define void @early",
            "define i32 @main",
            "declare void @declared",
            "attributes #0",
            "!0 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !1, splitDebugInlining: false)",
            "!1 =",
            "!3 =",
            "!5 =",
        ] {
            assert!(kept.contains(stays), "{stays} is gone:\n{kept}");
        }
        for goes in [
            "@unused",
            "@never",
            "@other",
            "@llvm.used",
            "!2",
            "!4",
            "!6",
        ] {
            assert!(!kept.contains(goes), "{goes} is still there:\n{kept}");
        }
    }

    #[test]
    fn what_is_cut_down_is_a_module_with_the_same_main() {
        let kept = IrText::new(MODULE).reached_from(&["main"], &FxHashMap::default());
        let module = raddle_ir::parse_module(kept, "kept").unwrap();
        let main = module.function_named("main").unwrap();
        assert!(!module.function(main).is_declaration);
        assert_eq!(module.constructors.len(), 1);
    }

    #[test]
    fn what_makes_backtraces_readable_is_left_out_and_reaching_it_is_told() {
        let module = "\
define i32 @main() {
  call void @_RN12backtrace_rs9symbolize5gimli()
  ret i32 0
}
define internal void @_RN12backtrace_rs9symbolize5gimli() {
  call void @large()
  ret void
}
define internal void @large() {
  ret void
}
";
        let kept = IrText::new(module).reached_from(&["main"], &FxHashMap::default());
        assert!(!kept.contains("@large"), "{kept}");
        // Cutting down what was cut down before changes nothing.
        let again = IrText::new(&kept).reached_from(&["main"], &FxHashMap::default());
        assert_eq!(again.lines().count(), kept.lines().count());
        let parsed = raddle_ir::parse_module(kept, "kept").unwrap();
        let unknown = parsed.function_named("raddle_symbolize_backtrace").unwrap();
        assert!(parsed.function(unknown).is_declaration);
    }

    #[test]
    fn a_replaced_definition_mentions_what_it_has_become() {
        let replaced = [("used", "@used = constant ptr @unused".to_owned())]
            .into_iter()
            .collect();
        let kept = IrText::new(MODULE).reached_from(&["main"], &replaced);
        assert!(kept.contains("@used = constant ptr @unused\n"), "{kept}");
        assert!(kept.contains("@unused = constant i32 3"), "{kept}");
    }
}

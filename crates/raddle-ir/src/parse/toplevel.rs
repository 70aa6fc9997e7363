//! The top level of a module.

use super::error::{PResult, ParseErrorKind, fail};
use super::lexer::{Token, unescape_name};
use super::parser::Parser;
use super::{BodySource, offset, types};
use crate::constant::Constant;
use crate::ids::{ConstId, FuncId, GlobalId, TypeId};
use crate::module::{Function, Global, Module, Symbol};
use crate::types::{DataLayout, Type};

/// What the first walk leaves to be read when all names are known.
#[derive(Default)]
struct Pending {
    initializers: Vec<(GlobalId, usize)>,
    /// Each with the offset of its resolver.
    ifuncs: Vec<(FuncId, usize)>,
    global_debug: Vec<(GlobalId, u32)>,
    function_debug: Vec<(FuncId, u32)>,
}

pub(super) fn parse(text: &str, module: &mut Module) -> PResult<()> {
    offset(text.len())?;
    let mut parser = Parser::new(text, 0, module)?;
    let mut pending = Pending::default();
    while parser.token != Token::Eof {
        parser.entity(&mut pending)?;
    }
    types::seal_types(parser.module)?;
    for &(function, at) in &pending.ifuncs {
        parser.resolve_ifunc(function, at)?;
    }
    for &(global, at) in &pending.initializers {
        parser.jump(at)?;
        let ty = parser.module.global(global).ty;
        let initializer = parser.constant(ty)?;
        parser.module.globals[global.index()].initializer = Some(initializer);
    }
    parser.resolve_aliases()?;
    for &(global, node) in &pending.global_debug {
        parser.describe_global(global, node)?;
    }
    for &(function, node) in &pending.function_debug {
        parser.locate_function(function, node)?;
    }
    fill_constructors(parser.module);
    fill_alignments(parser.module);
    Ok(())
}

impl<'t> Parser<'t, '_> {
    fn entity(&mut self, pending: &mut Pending) -> PResult<()> {
        let at = self.at;
        match self.token {
            Token::Meta(number) => self.metadata_definition(number),
            Token::MetaName(_) | Token::Summary | Token::Comdat(_) => self.skip_definition(),
            Token::Local(raw) => {
                self.bump()?;
                self.type_definition(&unescape_name(raw), at)
            }
            Token::LocalNumber(number) => {
                self.bump()?;
                self.type_definition(&number.to_string(), at)
            }
            Token::Global(raw) => self.global_entity(raw, pending),
            Token::Word(word) => match word {
                "define" => self.function(true, pending),
                "declare" => self.function(false, pending),
                "attributes" => {
                    self.bump()?;
                    self.skip_definition()
                }
                "source_filename" => {
                    self.bump()?;
                    self.expect_punct(b'=')?;
                    let name = unescape_name(self.expect_string()?);
                    self.module.source_name = name.into();
                    Ok(())
                }
                "target" => self.target(),
                "module" => {
                    self.bump()?;
                    self.expect_word("asm")?;
                    self.expect_string()?;
                    Ok(())
                }
                "uselistorder" | "uselistorder_bb" => self.skip_use_list_order(),
                _ => self.expected("a top-level entity"),
            },
            _ => self.expected("a top-level entity"),
        }
    }

    /// `$c = comdat any`, `!named = !{...}`, `#0 = { ... }`, `^0 = module: (...)`: nothing in them is used.
    fn skip_definition(&mut self) -> PResult<()> {
        self.bump()?;
        self.expect_punct(b'=')?;
        match self.token {
            Token::Punct(b'!') => {
                self.bump()?;
                self.skip_bracketed()
            }
            Token::Punct(b'{') => self.skip_group(),
            Token::Word("comdat") => {
                self.bump()?;
                match self.token {
                    Token::Word(_) => self.bump(),
                    _ => self.expected("a comdat kind"),
                }
            }
            // A summary entry is `kind: (...)` or `flags: 8`.
            Token::Label(_) => {
                self.bump()?;
                match self.token {
                    Token::Number(_) => self.bump(),
                    _ => self.skip_bracketed(),
                }
            }
            _ => self.expected("a definition"),
        }
    }

    /// A group that must be there.
    pub(super) fn skip_bracketed(&mut self) -> PResult<()> {
        if !matches!(self.token, Token::Punct(b'(' | b'[' | b'{')) {
            return self.expected("an opening bracket");
        }
        self.skip_group()
    }

    /// `uselistorder ptr @f, { 1, 0 }`, `uselistorder_bb @f, %bb, { 1, 0 }`: the order of uses in LLVM's memory.
    pub(super) fn skip_use_list_order(&mut self) -> PResult<()> {
        let of_block = self.is_word("uselistorder_bb");
        self.bump()?;
        if of_block {
            self.skip_constant()?;
            self.expect_punct(b',')?;
        } else {
            self.parse_type()?;
        }
        match self.token {
            Token::Local(_) | Token::LocalNumber(_) => self.bump()?,
            _ => self.skip_constant()?,
        }
        self.expect_punct(b',')?;
        self.skip_bracketed()
    }

    fn target(&mut self) -> PResult<()> {
        self.bump()?;
        let is_layout = self.is_word("datalayout");
        if !is_layout && !self.is_word("triple") {
            return self.expected("'datalayout' or 'triple'");
        }
        self.bump()?;
        self.expect_punct(b'=')?;
        let at = self.at;
        let value = self.expect_string()?;
        if is_layout {
            self.data_layout(value, at)?;
            self.pointer_layout = Some((value, at));
        } else {
            self.triple = Some(value);
        }
        self.check_target()
    }

    /// Of targets with pointers of four bytes, i386 is known: of others, nobody knows here what their library's objects look like.
    fn check_target(&self) -> PResult<()> {
        let (Some((layout, at)), Some(triple)) = (self.pointer_layout, self.triple) else {
            return Ok(());
        };
        let is_i386 = ["i386", "i486", "i586", "i686"]
            .iter()
            .any(|arch| triple.split('-').next() == Some(arch));
        if self.module.types.layout.is_ilp32() && !is_i386 {
            let target = format!("{layout}' of '{triple}");
            return fail(at, ParseErrorKind::UnsupportedTarget(target.into()));
        }
        Ok(())
    }

    fn data_layout(&mut self, text: &str, at: usize) -> PResult<()> {
        let mut layout = DataLayout {
            i128_align: 8,
            ..DataLayout::default()
        };
        let pointers = text.split('-').find_map(|part| part.strip_prefix("p:"));
        let is_narrow = pointers.is_some_and(|p| p == "32" || p.starts_with("32:"));
        let is_wide = pointers.is_none_or(|p| p == "64" || p.starts_with("64:"));
        if text.split('-').any(|part| part == "E") || !(is_narrow || is_wide) {
            return fail(at, ParseErrorKind::UnsupportedTarget(text.into()));
        }
        if is_narrow {
            // What LLVM takes where the text says nothing.
            layout = DataLayout {
                pointer_size: 4,
                i64_align: 4,
                i128_align: 4,
                ..layout
            };
        }
        for part in text.split('-') {
            let Some((what, aligns)) = part.split_once(':') else {
                continue;
            };
            let align = match what {
                "i64" => &mut layout.i64_align,
                "f64" => &mut layout.f64_align,
                "f80" => &mut layout.f80_align,
                "i128" if aligns == "128" || is_narrow => &mut layout.i128_align,
                _ => continue,
            };
            let bits = aligns.split(':').next().and_then(|bits| bits.parse().ok());
            match bits {
                Some(bits @ (32 | 64 | 128)) => *align = bits / 8,
                _ => return fail(at, ParseErrorKind::UnsupportedTarget(text.into())),
            }
        }
        self.module.types.layout = layout;
        Ok(())
    }

    // Globals and aliases.

    fn global_entity(&mut self, raw: &'t str, pending: &mut Pending) -> PResult<()> {
        let at = self.at;
        let name = unescape_name(raw);
        self.bump()?;
        self.expect_punct(b'=')?;
        let mut thread_local = false;
        let mut external = false;
        let mut weak = false;
        loop {
            let Token::Word(word) = self.token else {
                return self.expected("'global', 'constant' or 'alias'");
            };
            self.bump()?;
            match word {
                "global" | "constant" => {
                    let global = Global {
                        name: name.into(),
                        ty: self.common().void,
                        initializer: None,
                        is_constant: word == "constant",
                        thread_local,
                        align: 0,
                        source_type: None,
                        source_name: None,
                        declared_at: None,
                    };
                    if weak {
                        self.module.extern_weak.insert(global.name.clone());
                    }
                    return self.global(global, external, at, pending);
                }
                "alias" | "ifunc" => {
                    let ty = self.parse_type()?;
                    self.expect_punct(b',')?;
                    if word == "alias" {
                        self.define_alias(&name, offset(self.at)?, at)?;
                    } else {
                        let id = self.declare_ifunc(&name, ty, at)?;
                        pending.ifuncs.push((id, self.at));
                    }
                    if self.at_type() {
                        self.parse_type()?;
                    }
                    self.skip_constant()?;
                    return self.global_suffix().map(drop);
                }
                "external" | "extern_weak" => {
                    external = true;
                    weak |= word == "extern_weak";
                }
                "thread_local" => thread_local = true,
                _ => {}
            }
            if self.is_punct(b'(') {
                self.skip_group()?;
            }
        }
    }

    fn global(
        &mut self,
        mut global: Global,
        external: bool,
        at: usize,
        pending: &mut Pending,
    ) -> PResult<()> {
        let id = GlobalId::from_index(self.module.globals.len());
        global.ty = self.value_type()?;
        self.define_symbol(&global.name, Symbol::Global(id), at)?;
        if !external {
            pending.initializers.push((id, self.at));
            self.skip_constant()?;
        }
        let (align, debug) = self.global_suffix()?;
        global.align = align.unwrap_or(0);
        self.module.globals.push(global);
        pending.global_debug.extend(debug.map(|node| (id, node)));
        Ok(())
    }

    /// `, section "s", comdat($c), align 8, !dbg !3`: the alignment and the first debug node.
    fn global_suffix(&mut self) -> PResult<(Option<u64>, Option<u32>)> {
        let mut align = None;
        let mut debug = None;
        while self.accept_punct(b',')? {
            match self.token {
                Token::Word("align") => {
                    self.bump()?;
                    align = Some(self.expect_u64()?);
                }
                Token::Word(_) => {
                    self.bump()?;
                    match self.token {
                        Token::Punct(b'(') => self.skip_group()?,
                        Token::Str(_) => self.bump()?,
                        _ => {}
                    }
                }
                Token::MetaName(name) => {
                    let node = self.attachment()?;
                    if name == "dbg" {
                        debug = debug.or(node);
                    }
                }
                _ => return self.expected("an attribute of the global"),
            }
        }
        while matches!(self.token, Token::AttrGroup(_)) {
            self.bump()?;
        }
        Ok((align, debug))
    }

    // Functions.

    fn function(&mut self, is_definition: bool, pending: &mut Pending) -> PResult<()> {
        self.bump()?;
        let mut debug = None;
        // On declarations, metadata comes first.
        while let Token::MetaName(name) = self.token {
            let node = self.attachment()?;
            debug = debug.or(node.filter(|_| name == "dbg"));
        }
        let weak = self.is_word("extern_weak");
        self.skip_to_type()?;
        let ret = self.parse_type()?;
        let at = self.at;
        let Token::Global(raw) = self.token else {
            return self.expected("the function's name");
        };
        self.bump()?;
        let params_at = offset(self.at)?;
        let id = FuncId::from_index(self.module.functions.len());
        let function = self.function_header(raw, ret, is_definition)?;
        self.define_symbol(&function.name, Symbol::Function(id), at)?;
        if weak {
            self.module.extern_weak.insert(function.name.clone());
        }
        while !(is_definition && self.is_punct(b'{')) {
            match self.token {
                Token::Word("prefix" | "prologue" | "personality") => {
                    self.bump()?;
                    self.parse_type()?;
                    self.skip_constant()?;
                }
                Token::Word("define" | "declare" | "attributes" | "source_filename" | "target")
                | Token::Word("module" | "uselistorder" | "uselistorder_bb") => break,
                Token::MetaName(name) if is_definition => {
                    let node = self.attachment()?;
                    debug = debug.or(node.filter(|_| name == "dbg"));
                }
                _ => {
                    if !self.skip_function_attribute()? {
                        break;
                    }
                }
            }
        }
        let body = if is_definition {
            Some(self.skip_body(params_at)?)
        } else {
            None
        };
        self.module.functions.push(function);
        self.module.parsed.bodies.push(body);
        pending.function_debug.extend(debug.map(|node| (id, node)));
        Ok(())
    }

    fn skip_body(&mut self, params_at: u32) -> PResult<BodySource> {
        if !self.is_punct(b'{') {
            return self.expected("'{'");
        }
        let body_at = offset(self.end_of_token())?;
        let end = self.group_end()?;
        self.jump(end)?;
        Ok(BodySource {
            params_at,
            body_at,
            end: offset(end)?,
        })
    }

    /// At the `(` in front of the parameters.
    fn function_header(
        &mut self,
        raw_name: &str,
        ret: TypeId,
        is_definition: bool,
    ) -> PResult<Function> {
        let mut params = Vec::new();
        let mut param_nocapture = Vec::new();
        let mut param_byval = Vec::new();
        let varargs = self.params(|_, ty, attributes, _| {
            params.push(ty);
            param_nocapture.push(attributes.nocapture);
            param_byval.push(attributes.byval);
            Ok(())
        })?;
        let ty = self.module.types.intern(Type::Function {
            ret,
            params: params.into(),
            varargs,
        });
        Ok(Function {
            name: unescape_name(raw_name).into(),
            ty,
            is_declaration: !is_definition,
            param_nocapture,
            param_byval,
            defined_at: None,
        })
    }

    /// `(i32 noundef %a, ptr %b, ...)`: calls `each` with every parameter, and says whether `...` ends them.
    pub(super) fn params(
        &mut self,
        mut each: impl FnMut(
            &mut Self,
            TypeId,
            super::attributes::ParamAttributes,
            Option<Token<'t>>,
        ) -> PResult<()>,
    ) -> PResult<bool> {
        self.expect_punct(b'(')?;
        let mut varargs = false;
        while !self.is_punct(b')') {
            if self.accept_word("...")? {
                varargs = true;
                break;
            }
            let ty = self.value_type()?;
            let attributes = self.param_attributes()?;
            let name = match self.token {
                Token::Local(_) | Token::LocalNumber(_) => {
                    let name = self.token;
                    self.bump()?;
                    Some(name)
                }
                _ => None,
            };
            each(self, ty, attributes, name)?;
            if !self.accept_punct(b',')? {
                break;
            }
        }
        self.expect_punct(b')')?;
        Ok(varargs)
    }
}

/// Globals that state no alignment have that of their type.
fn fill_alignments(module: &mut Module) {
    for global in &mut module.globals {
        if global.align == 0 {
            global.align = module.types.align(global.ty).unwrap_or(1);
        }
    }
}

fn fill_constructors(module: &mut Module) {
    module.constructors = by_priority(module, "llvm.global_ctors");
    // Destructors run in the opposite order.
    module.destructors = by_priority(module, "llvm.global_dtors");
    module.destructors.reverse();
}

/// The functions of a table of `{ i32 priority, ptr function, ptr data }`, lowest priority first.
fn by_priority(module: &Module, table: &str) -> Vec<FuncId> {
    let Some(&Symbol::Global(global)) = module.symbols.get(table) else {
        return Vec::new();
    };
    let elements = |id: ConstId| match module.constant(id) {
        Constant::Aggregate(_, elements) => &elements[..],
        _ => &[],
    };
    let entries = module.global(global).initializer.map_or(&[][..], elements);
    let mut functions: Vec<(u128, FuncId)> = Vec::new();
    for &entry in entries {
        if let [priority, function, ..] = elements(entry)
            && let Constant::Int(_, priority) = module.constant(*priority)
            && let Constant::Function(function) = module.constant(*function)
        {
            functions.push((*priority, *function));
        }
    }
    functions.sort_by_key(|&(priority, _)| priority);
    functions
        .into_iter()
        .map(|(_, function)| function)
        .collect()
}

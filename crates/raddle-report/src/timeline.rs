//! An execution as a table: one lane per thread, one row per step, so that context switches are seen as jumps.
//!
//! A row holds one step only, so a long cell may run over the lanes to its right; that is what makes four threads fit in
//! 80 columns. Where even that does not fit, the table becomes a list with the thread's name in front. What ends the
//! execution may be longer than that, and takes several lines.

use crate::source::position;
use crate::style::Paint;
use crate::view::{View, Weight};
use raddle_judge::Effect;
use raddle_program::{Op, SrcId, ThreadId};

/// What ends the execution, or takes part in the violation.
pub(crate) struct Mark {
    pub(crate) thread: ThreadId,
    pub(crate) at: SrcId,
    pub(crate) text: String,
}

/// What to show.
pub(crate) struct Timeline<'a> {
    pub(crate) view: &'a View<'a>,
    /// What stands below the last step.
    pub(crate) end: Vec<Mark>,
    /// Everything, also what tells nothing.
    pub(crate) full: bool,
    /// Show what the program prints.
    pub(crate) output: bool,
    /// The step after which `main` has returned, if others go on.
    pub(crate) main_returned: Option<usize>,
}

/// Executions with more rows are folded: steps that only their own thread sees become one row.
const FOLD_OVER: usize = 30;
/// Fewer are not worth it.
const FOLD_LEAST: usize = 3;
/// The steps just before the violation are what a reader looks for first.
const FOLD_NOT_LAST: usize = 4;
/// What is longer still is cut in the middle: the end is what explains the violation.
const HEAD_ROWS: usize = 20;
const TAIL_ROWS: usize = 180;
/// Lanes closer together than this are no lanes.
const LEAST_PITCH: usize = 12;
/// Names of threads are cut in the title where space is scarce: the row in which a thread starts has them in full.
const LONGEST_TITLE: usize = 28;
const SHORT_TITLE: usize = 12;
/// What ends an execution is not broken into shorter lines than this.
const LEAST_WRAPPED: usize = 36;
/// Stands in place of the number of what ends the execution.
const END: &str = "✗";
const GAP: usize = 2;
/// Stands before the first step of a thread that takes over.
const SWITCH: &str = "▸ ";
const NO_SWITCH: &str = "  ";

struct Row {
    /// Step number, or the end mark.
    number: String,
    lane: usize,
    line: String,
    text: String,
    pointed: bool,
    weight: Weight,
}

impl Row {
    /// What ends the execution takes as many lines as it needs.
    fn cell_width(&self) -> usize {
        let text = match self.is_end() {
            true => width(&self.text).min(LEAST_WRAPPED),
            false => width(&self.text),
        };
        width(NO_SWITCH) + width(&self.line) + text
    }

    fn is_end(&self) -> bool {
        self.number == END
    }
}

struct Lane {
    title: String,
    /// Rows between which the thread lives.
    first: usize,
    last: usize,
}

impl Timeline<'_> {
    /// The lines of the table, within `columns` where possible, and below it what it leaves out.
    pub(crate) fn render(&self, columns: usize, paint: Paint) -> String {
        let threads = self.threads();
        let rows = self.rows(&threads);
        if rows.is_empty() {
            return String::new();
        }
        let lanes = self.lanes(&threads, &rows);
        let numbers = rows.iter().map(|row| width(&row.number)).max().unwrap_or(0);
        let prefix = numbers.max(4) + 2 * GAP;
        let columns = columns.saturating_sub(prefix);
        let page = Page {
            columns,
            numbers: prefix - GAP,
            paint,
        };
        let table = match offsets(&lanes, &rows, columns) {
            Some(offsets) => table(&lanes, &rows, &offsets, page),
            None => list(&lanes, &rows, page),
        };
        table + &paint.dim(&self.footer(&rows))
    }

    /// What the table does not show.
    fn footer(&self, rows: &[Row]) -> String {
        let shown = |row: &&Row| row.number.starts_with(|c: char| c.is_ascii_digit());
        let steps = self.view.trace.steps.len();
        let hidden = steps - rows.iter().filter(shown).count();
        let switches = match self.view.switches() {
            0 => return String::new(),
            1 => "1 context switch".to_owned(),
            switches => format!("{switches} context switches"),
        };
        match hidden {
            0 => format!("({switches})\n"),
            1 => format!("({switches}; 1 of {steps} steps left out: --full shows it)\n"),
            _ => format!("({switches}; {hidden} of {steps} steps left out: --full shows them)\n"),
        }
    }

    fn threads(&self) -> Vec<ThreadId> {
        let steps = self.view.trace.steps.iter().map(|step| step.thread);
        let mut threads: Vec<_> = steps
            .chain(self.end.iter().map(|mark| mark.thread))
            .collect();
        threads.sort_unstable_by_key(|&thread| self.view.names.thread_number(thread));
        threads.dedup();
        threads
    }

    fn rows(&self, threads: &[ThreadId]) -> Vec<Row> {
        let lane_of = |thread| threads.iter().position(|&it| it == thread).unwrap_or(0);
        let several_files = self.several_files();
        let mut rows = Vec::new();
        if self.output {
            let main = self.view.program.start_output(self.view.program.main());
            rows.extend(main.map(|text| self.printed(text, 0)));
        }
        for (index, step) in self.view.trace.steps.iter().enumerate() {
            rows.extend(self.row(index, lane_of(step.thread), several_files));
            if self.main_returned == Some(index) {
                rows.push(returned(lane_of(step.thread)));
            }
            if self.output {
                let text = self.view.program.output(step.state, step.value);
                rows.extend(text.map(|text| self.printed(text, lane_of(step.thread))));
                if let Op::Spawn { child, start } = *self.view.program.op(step.state) {
                    let text = self.view.program.start_output(start);
                    rows.extend(text.map(|text| self.printed(text, lane_of(child))));
                }
            }
        }
        if !self.full {
            fold(&mut rows);
            elide(&mut rows);
        }
        rows.extend(self.end.iter().map(|mark| Row {
            number: END.to_owned(),
            lane: lane_of(mark.thread),
            line: self.line(mark.at, several_files),
            text: in_one_line(&mark.text),
            pointed: true,
            weight: Weight::Shared,
        }));
        align_lines(&mut rows);
        rows
    }

    fn row(&self, index: usize, lane: usize, with_file: bool) -> Option<Row> {
        let weight = self.view.weight(index);
        if weight == Weight::Noise && !self.full {
            return None;
        }
        let pointed = self.view.why_pointed(index);
        let mut text = self.view.phrase(index) + &origin(self.view, index);
        if let Some(why) = pointed {
            text += "  ✗ ";
            text += why;
        }
        let at = self.view.program.at(self.view.trace.steps[index].state);
        Some(Row {
            number: (index + 1).to_string(),
            lane,
            line: self.line(at, with_file),
            text,
            pointed: pointed.is_some(),
            weight,
        })
    }

    fn printed(&self, text: &str, lane: usize) -> Row {
        Row {
            number: "»".to_owned(),
            lane,
            line: String::new(),
            text: format!("prints {text:?}"),
            pointed: false,
            weight: Weight::Shared,
        }
    }

    fn line(&self, at: SrcId, with_file: bool) -> String {
        match position(self.view.names.tables(), at) {
            None => String::new(),
            Some(loc) if with_file => {
                let file = loc.file.rsplit('/').next().unwrap_or(&loc.file);
                format!("{file}:{}", loc.line)
            }
            Some(loc) => loc.line.to_string(),
        }
    }

    /// Are steps of several files shown?
    fn several_files(&self) -> bool {
        let shown = |index: &usize| self.full || self.view.weight(*index) != Weight::Noise;
        let steps = (0..self.view.trace.steps.len())
            .filter(shown)
            .map(|index| self.view.program.at(self.view.trace.steps[index].state));
        let mut files = steps
            .chain(self.end.iter().map(|mark| mark.at))
            .filter_map(|at| position(self.view.names.tables(), at))
            .map(|loc| &loc.file);
        match files.next() {
            Some(first) => files.any(|file| file != first),
            None => false,
        }
    }

    fn lanes(&self, threads: &[ThreadId], rows: &[Row]) -> Vec<Lane> {
        let lane = |(lane, &thread): (usize, &ThreadId)| {
            let own = |row: &Row| row.lane == lane;
            let entry = self.view.names.entry(thread);
            Lane {
                title: cut(
                    format!("{} {entry}", self.view.names.short(thread)).trim_end(),
                    LONGEST_TITLE,
                ),
                first: rows.iter().position(own).unwrap_or(0),
                last: rows.iter().rposition(own).unwrap_or(0),
            }
        };
        threads.iter().enumerate().map(lane).collect()
    }
}

/// Who wrote what the step read, or when the store was done that it makes visible.
pub(crate) fn origin(view: &View<'_>, index: usize) -> String {
    if let Effect::Flushed { store } = view.trace.steps[index].effect {
        return format!("  ← step {}", store + 1);
    }
    let step = &view.trace.steps[index];
    if !view.reads(index) {
        return match step.older_than {
            Some(newer) => format!("  (older than step {})", newer + 1),
            None => String::new(),
        };
    }
    let stale = match &step.stale {
        Some(stale) => format!(", stale: not step {}", stale.newest + 1),
        None => String::new(),
    };
    let origin = match step.reads_from {
        None => "  ← initial".to_owned(),
        Some(index) => match view.trace.steps.get(index) {
            Some(writer) if writer.thread != step.thread => {
                format!(
                    "  ← step {} ({})",
                    index + 1,
                    view.names.short(writer.thread)
                )
            }
            _ => format!("  ← step {}", index + 1),
        },
    };
    origin + &stale
}

/// `main` has returned, and other threads go on.
fn returned(lane: usize) -> Row {
    Row {
        number: "↩".to_owned(),
        lane,
        line: String::new(),
        text: "main returns".to_owned(),
        pointed: false,
        weight: Weight::Shared,
    }
}

/// Makes one row of several that only their own thread sees.
fn fold(rows: &mut Vec<Row>) {
    if rows.len() <= FOLD_OVER {
        return;
    }
    let end = rows.split_off(rows.len() - FOLD_NOT_LAST);
    let mut folded: Vec<Row> = Vec::new();
    let mut rest = std::mem::take(rows).into_iter().peekable();
    while let Some(row) = rest.next() {
        let lane = row.lane;
        let foldable = |row: &Row| row.weight == Weight::Local && row.lane == lane;
        if !foldable(&row) {
            folded.push(row);
            continue;
        }
        let mut run = vec![row];
        while let Some(next) = rest.next_if(foldable) {
            run.push(next);
        }
        if run.len() < FOLD_LEAST {
            folded.append(&mut run);
            continue;
        }
        folded.push(Row {
            number: "⋮".to_owned(),
            lane,
            line: String::new(),
            text: format!("{} steps that no other thread sees", run.len()),
            pointed: false,
            weight: Weight::Local,
        });
    }
    folded.extend(end);
    *rows = folded;
}

/// Makes line numbers equally wide, with what separates them from the operation.
fn align_lines(rows: &mut [Row]) {
    let widest = rows.iter().map(|row| width(&row.line)).max().unwrap_or(0);
    if widest == 0 {
        return;
    }
    for row in rows {
        let colon = if row.line.is_empty() { ' ' } else { ':' };
        row.line = format!("{:>widest$}{colon} ", row.line);
    }
}

/// Cuts the middle out of a long execution.
fn elide(rows: &mut Vec<Row>) {
    if rows.len() <= HEAD_ROWS + TAIL_ROWS {
        return;
    }
    let end = rows.len() - TAIL_ROWS;
    let hidden = end - HEAD_ROWS;
    let lane = rows[HEAD_ROWS].lane;
    let note = Row {
        number: "…".to_owned(),
        lane,
        line: String::new(),
        text: format!("{hidden} rows not shown"),
        pointed: false,
        weight: Weight::Local,
    };
    rows.splice(HEAD_ROWS..end, [note]);
}

/// Where each lane begins, if lanes fit.
fn offsets(lanes: &[Lane], rows: &[Row], columns: usize) -> Option<Vec<usize>> {
    let natural: Vec<usize> = (0..lanes.len())
        .map(|lane| {
            let cells = rows
                .iter()
                .filter(|row| row.lane == lane)
                .map(Row::cell_width);
            cells
                .max()
                .unwrap_or(0)
                .max(width(NO_SWITCH) + width(&lanes[lane].title))
                + GAP
        })
        .collect();
    let pitches: Vec<usize> = if natural.iter().sum::<usize>() <= columns {
        natural
    } else {
        // The last lane has nothing to its right to run over: it gets its full width, the others share the rest.
        let (&last, others) = natural.split_last()?;
        let pitch = columns.checked_sub(last)? / others.len().max(1);
        let title = |lane: &Lane| width(NO_SWITCH) + width(&lane.title).min(SHORT_TITLE) + GAP;
        let least_title = lanes.iter().map(title).max()?;
        if pitch < LEAST_PITCH.max(least_title) {
            return None;
        }
        let reach = |lane: usize, natural: usize| lane * pitch + natural <= columns;
        if !natural
            .iter()
            .enumerate()
            .all(|(lane, &own)| reach(lane, own))
        {
            return None;
        }
        vec![pitch; lanes.len()]
    };
    let mut offset = 0;
    Some(
        pitches
            .iter()
            .map(|pitch| {
                offset += pitch;
                offset - pitch
            })
            .collect(),
    )
}

/// What lines are written on.
#[derive(Clone, Copy)]
struct Page {
    /// Columns beside the numbers.
    columns: usize,
    /// Columns of the numbers.
    numbers: usize,
    paint: Paint,
}

impl Page {
    /// The lines of a row's text that begins in some column.
    fn lines(self, row: &Row, column: usize) -> Vec<String> {
        if !row.is_end() {
            return vec![row.text.clone()];
        }
        let room = self.columns.saturating_sub(column + width(&row.line));
        wrapped(&row.text, room.max(LEAST_WRAPPED))
    }
}

fn table(lanes: &[Lane], rows: &[Row], offsets: &[usize], page: Page) -> String {
    let Page { numbers, paint, .. } = page;
    let mut text = String::new();
    let mut line = Line::new(paint, numbers, "step");
    for (index, lane) in lanes.iter().enumerate() {
        line.to(offsets[index] + width(NO_SWITCH));
        let title = match offsets.get(index + 1) {
            Some(next) => cut(&lane.title, next - line.column - GAP),
            None => lane.title.clone(),
        };
        line.put(width(&title), &paint.thread(index, &title));
    }
    line.end(&mut text);
    for (number, row) in rows.iter().enumerate() {
        let switched = !row.is_end() && number > 0 && rows[number - 1].lane != row.lane;
        let lines = page.lines(row, offsets[row.lane] + width(NO_SWITCH));
        for (part, cell) in lines.iter().enumerate() {
            let label = if part == 0 { &*row.number } else { "" };
            let mut line = Line::new(paint, numbers, label);
            for (index, lane) in lanes.iter().enumerate() {
                if index == row.lane {
                    line.to(offsets[index]);
                    line.switch(switched);
                    line.cell(row, cell, part, index);
                } else if (lane.first..=lane.last).contains(&number)
                    && line.column <= offsets[index]
                {
                    line.to(offsets[index]);
                    line.put(1, &paint.dim("│"));
                }
            }
            line.end(&mut text);
        }
    }
    text
}

fn list(lanes: &[Lane], rows: &[Row], page: Page) -> String {
    let Page { numbers, paint, .. } = page;
    let titles = lanes
        .iter()
        .map(|lane| width(&lane.title))
        .max()
        .unwrap_or(0)
        + GAP;
    let mut text = String::new();
    let mut line = Line::new(paint, numbers, "step");
    line.put(6, "thread");
    line.end(&mut text);
    let mut previous = None;
    for row in rows {
        for (part, cell) in page.lines(row, titles).iter().enumerate() {
            let label = if part == 0 { &*row.number } else { "" };
            let mut line = Line::new(paint, numbers, label);
            // The name stands where the thread changes, so that switches stand out.
            if previous != Some(row.lane) {
                let title = &lanes[row.lane].title;
                line.put(width(title), &paint.thread(row.lane, title));
            }
            line.to(titles);
            line.cell(row, cell, part, row.lane);
            line.end(&mut text);
            previous = Some(row.lane);
        }
    }
    text
}

/// What a panic says may have several lines.
fn in_one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.join(" ")
}

/// A text in lines of at most so many columns, broken at spaces where there are any.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    if width(text) <= columns {
        return vec![text.to_owned()];
    }
    // Two spaces stand between parts.
    text.split("  ")
        .flat_map(|part| wrapped_part(part, columns))
        .collect()
}

fn wrapped_part(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_inclusive(' ') {
        let line = lines.last().map_or(0, |line| width(line));
        if line > 0 && line + width(word.trim_end()) > columns {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(word);
        }
    }
    for line in &mut lines {
        line.truncate(line.trim_end().len());
    }
    lines
}

/// As much of a text as fits.
fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns.saturating_sub(1)).collect();
    kept + "…"
}

/// A line under construction: colours take no columns.
struct Line {
    text: String,
    column: usize,
    paint: Paint,
}

impl Line {
    fn new(paint: Paint, numbers: usize, number: &str) -> Self {
        let pad = " ".repeat(numbers.saturating_sub(width(number)));
        let number = if number == END {
            paint.bad(number)
        } else {
            paint.dim(number)
        };
        Self {
            text: format!("{pad}{number}{}", " ".repeat(GAP)),
            column: 0,
            paint,
        }
    }

    fn to(&mut self, column: usize) {
        while self.column < column {
            self.text.push(' ');
            self.column += 1;
        }
    }

    fn put(&mut self, columns: usize, painted: &str) {
        self.text += painted;
        self.column += columns;
    }

    /// Marks that the processor changes hands.
    fn switch(&mut self, switched: bool) {
        let mark = if switched { SWITCH } else { NO_SWITCH };
        self.put(width(mark), &self.paint.bold(mark));
    }

    /// The line of a row that holds `text`; only the first one has the source line in front.
    fn cell(&mut self, row: &Row, text: &str, part: usize, lane: usize) {
        if part == 0 {
            self.put(width(&row.line), &self.paint.dim(&row.line));
        } else {
            self.to(self.column + width(&row.line));
        }
        let painted = if row.pointed {
            self.paint.bad(text)
        } else {
            self.paint.thread(lane, text)
        };
        // One more column, so that a lane line never touches the text.
        self.put(width(text) + 1, &painted);
        self.text.push(' ');
    }

    fn end(mut self, text: &mut String) {
        while self.text.ends_with(' ') {
            self.text.pop();
        }
        *text += &self.text;
        text.push('\n');
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

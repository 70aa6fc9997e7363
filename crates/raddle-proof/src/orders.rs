//! What orders events, and under which literals.
//!
//! Events of one class are one node of their graph, which has the number of its first event. An order between two of them says
//! nothing if it is that of the class, and is a cycle by itself otherwise.

use crate::fault::Fault;
use crate::lit::Lit;
use crate::words::Words;
use rustc_hash::FxHashMap;

type Event = u32;
type Node = u32;

/// Graphs are bits of a mask.
const MOST_GRAPHS: u32 = 8;

#[derive(Default)]
pub(crate) struct Orders {
    graphs: Vec<Graph>,
    events: u32,
    /// By two writes: literals under which the first comes before the second.
    overwrites: FxHashMap<(Event, Event), Vec<Lit>>,
}

#[derive(Default)]
struct Graph {
    /// Of events that are in a class with others: the node, and which one they are.
    places: FxHashMap<Event, (Node, u32)>,
    /// By the node of such a class.
    members: FxHashMap<Node, Vec<Event>>,
    /// By two nodes: literals under which the first is before the second.
    edges: FxHashMap<(Node, Node), Vec<Lit>>,
    /// By the node of a read: itself, the write that it reads from, and the literal that says so.
    reads: FxHashMap<Node, Vec<(Event, Event, Lit)>>,
}

impl Graph {
    fn place(&self, event: Event) -> (Node, u32) {
        self.places.get(&event).copied().unwrap_or((event, 0))
    }

    /// The nodes that an order between two events is about, unless it goes along a class.
    fn nodes(&self, from: Event, to: Event) -> Option<(Node, Node)> {
        let (from, to) = (self.place(from), self.place(to));
        (from.0 != to.0 || from.1 >= to.1).then_some((from.0, to.0))
    }
}

impl Orders {
    /// A line that tells what is ordered.
    pub(crate) fn fact(&mut self, kind: &str, words: &mut Words<'_>) -> Result<(), Fault> {
        match kind {
            "g" => {
                let graph = self.graphs.len() as u32;
                if graph == MOST_GRAPHS {
                    return Err(Fault::UnknownGraph { graph });
                }
                self.graphs.push(Graph::default());
            }
            "e" => {
                let event = words.number()?;
                words.literal()?;
                let expected = self.events;
                if event != expected {
                    return Err(Fault::EventNumber { event, expected });
                }
                self.events += 1;
            }
            "k" => {
                let graph = words.number()?;
                let events = words.numbers()?;
                for &event in &events {
                    self.known(event)?;
                }
                self.class(graph, &events)?;
            }
            "r" => {
                let from_reads = self.mask(words)?;
                let (write, read, lit) = self.edge(words)?;
                for graph in chosen(&mut self.graphs, from_reads) {
                    let (node, _) = graph.place(read);
                    let reads = graph.reads.entry(node).or_default();
                    reads.push((read, write, lit));
                }
            }
            "w" => {
                let (first, second, lit) = self.edge(words)?;
                let overwrites = self.overwrites.entry((first, second));
                overwrites.or_default().push(lit);
            }
            _ => {
                self.edge(words)?;
            }
        }
        Ok(())
    }

    fn class(&mut self, graph: u32, events: &[Event]) -> Result<(), Fault> {
        let found = self.graphs.get_mut(graph as usize);
        let found = found.ok_or(Fault::UnknownGraph { graph })?;
        let Some(&node) = events.first() else {
            return Ok(());
        };
        for (position, &event) in (0..).zip(events) {
            found.places.insert(event, (node, position));
        }
        found.members.insert(node, events.to_vec());
        Ok(())
    }

    /// An order of two events in some graphs, while a literal holds.
    fn edge(&mut self, words: &mut Words<'_>) -> Result<(Event, Event, Lit), Fault> {
        let mask = self.mask(words)?;
        let (from, to) = (words.number()?, words.number()?);
        let lit = words.literal()?;
        self.known(from)?;
        self.known(to)?;
        for graph in chosen(&mut self.graphs, mask) {
            if let Some(nodes) = graph.nodes(from, to) {
                graph.edges.entry(nodes).or_default().push(lit);
            }
        }
        Ok((from, to, lit))
    }

    fn mask(&self, words: &mut Words<'_>) -> Result<u32, Fault> {
        let mask = words.number()?;
        match mask >> self.graphs.len() {
            0 => Ok(mask),
            _ => Err(Fault::UnknownGraph {
                graph: mask.ilog2(),
            }),
        }
    }

    fn known(&self, event: Event) -> Result<(), Fault> {
        match event < self.events {
            true => Ok(()),
            false => Err(Fault::UnknownEvent { event }),
        }
    }

    /// Is each of these nodes ordered before the next one, and the last before the first, if `holds` says which literals hold?
    pub(crate) fn cycle(
        &self,
        graph: u32,
        nodes: &[Node],
        holds: impl Fn(Lit) -> bool,
    ) -> Result<(), Fault> {
        let found = self.graphs.get(graph as usize);
        let found = found.ok_or(Fault::UnknownGraph { graph })?;
        let first = *nodes.first().ok_or(Fault::NoCycle)?;
        let next = nodes[1..].iter().copied().chain([first]);
        for (&from, to) in nodes.iter().zip(next) {
            if !self.is_before(found, from, to, &holds) {
                return Err(Fault::NoOrder { graph, from, to });
            }
        }
        Ok(())
    }

    fn is_before(&self, graph: &Graph, from: Node, to: Node, holds: impl Fn(Lit) -> bool) -> bool {
        let any = |lits: Option<&Vec<Lit>>| lits.is_some_and(|lits| lits.iter().any(|&l| holds(l)));
        if any(graph.edges.get(&(from, to))) {
            return true;
        }
        // A read comes before what overwrites what it reads.
        let alone = [to];
        let later = graph.members.get(&to).map_or(&alone[..], Vec::as_slice);
        let reads = graph.reads.get(&from).into_iter().flatten();
        let mut reads = reads.filter(|(_, _, lit)| holds(*lit));
        reads.any(|&(read, write, _)| {
            later.iter().any(|&later| {
                graph.nodes(read, later) == Some((from, to))
                    && any(self.overwrites.get(&(write, later)))
            })
        })
    }
}

fn chosen(graphs: &mut [Graph], mask: u32) -> impl Iterator<Item = &mut Graph> {
    let graphs = graphs.iter_mut().enumerate();
    let graphs = graphs.filter(move |(at, _)| mask >> at & 1 == 1);
    graphs.map(|(_, graph)| graph)
}

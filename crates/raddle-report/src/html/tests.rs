use super::*;
use raddle_search::{EngineKind, SearchOptions};
use raddle_testing::builder::ProgramBuilder;

fn page(build: impl FnOnce(&mut ProgramBuilder), source: &str) -> (String, serde_json::Value) {
    let mut builder = ProgramBuilder::new("test.c");
    build(&mut builder);
    let mut program = builder.build().program();
    let outcome =
        raddle_search::check(&mut program, EngineKind::Naive, SearchOptions::default()).unwrap();
    let sources = Sources::default();
    sources.insert("test.c", source);
    let report = Report {
        outcome: &outcome,
        program: &program,
        file: "test.c",
    };
    let page = render(&report, &sources);
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    let json = serde_json::from_str(json).unwrap();
    (page, json)
}

#[test]
fn the_page_is_whole_and_needs_nothing_else() {
    let hostile = "// </script><script>alert(1)</script> {{script}} <!--\n";
    let (page, data) = page(
        |p| {
            p.thread("left", |_| {});
        },
        hostile,
    );
    assert_eq!(data["verdict"], "verified");
    assert_eq!(data["files"][0]["lines"][0], hostile.trim_end());
    assert_eq!(page.matches("</script>").count(), 2);
    for outside in ["http:", "https:", "src=", "@import", "url(h"] {
        let found = page.replace(SVG, "").contains(outside);
        assert!(!found, "{outside}");
    }
}

/// The name of a language is no address.
const SVG: &str = "http://www.w3.org/2000/svg";

#[test]
fn the_data_holds_orders_and_states() {
    let (_, data) = page(
        |p| {
            let x = p.var("x", 4);
            let m = p.mutex("m");
            p.thread("left", |t| {
                t.lock(m);
                t.store(x, 1);
                t.unlock(m);
            });
            p.thread("right", |t| {
                t.lock(m);
                let seen = t.load(x);
                t.unlock(m);
                t.store(x, seen + 1);
                t.store(x, 7);
                let seen = t.load(x);
                t.assert(raddle_testing::builder::Compare::is(seen, 8));
            });
        },
        "",
    );
    let run = &data["violations"][0];
    let steps = run["steps"].as_array().unwrap();
    let cells = run["cells"].as_array().unwrap();
    let cell = |name: &str| cells.iter().position(|cell| cell["name"] == name).unwrap();
    let find = |text: &str| {
        let step = steps
            .iter()
            .position(|step| step["text"].as_str().unwrap().starts_with(text));
        step.unwrap_or_else(|| panic!("{text}: {steps:#?}"))
    };
    assert_eq!(cells[cell("x")]["initial"], "0");
    let last_write = find("x = 7");
    assert_eq!(steps[last_write]["co"], last_write - 1);
    assert_eq!(steps[last_write]["sets"][0][1], "7");
    assert_eq!(steps[last_write + 1]["rf"], last_write);
    let lock = find("lock m");
    assert_eq!(steps[lock]["sets"][0][0], cell("m"));
    assert!(
        steps[lock]["sets"][0][1]
            .as_str()
            .unwrap()
            .starts_with("held by T")
    );
    // The first step of a thread comes after what started it.
    assert_eq!(steps[lock]["hb"].as_array().unwrap().len(), 1);
    assert!(
        run["end"][0]["text"]
            .as_str()
            .unwrap()
            .contains("assertion failed")
    );
}

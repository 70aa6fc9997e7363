#[test]
fn does_not_compile() {
    let number: u32 = "text";
}

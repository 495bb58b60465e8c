//! A gateway is served to others with what is for development: keys in its own folder, partners on loopback addresses, mail with codes in
//! a file.

use super::example_keys::serve;

#[test]
fn settings_for_development_are_refused_on_an_address_that_others_reach() {
    let settings = "[partner_client]\nallow_loopback_http = true\n";
    let (code, said) = serve("0.0.0.0:0", settings).expect("it is refused");
    assert_eq!(code, Some(2), "{said}");
    for advice in
        ["set `auth.signing_key`", "set `auth.master_key`", "`partner_client.allow_loopback_http`", "set `mail.mode`"]
    {
        assert!(said.contains(advice), "{said}");
    }
    assert_eq!(serve("127.0.0.1:0", settings), None, "for development it is served");
    assert_eq!(serve("[::1]:0", settings), None, "for development it is served");
}

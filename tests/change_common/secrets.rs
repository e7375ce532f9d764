//! What of a lab must be nowhere.

use deevnet_console::lab::state::World;

/// Every secret of the site, in each form it could be written down.
pub fn secrets(world: &World) -> Vec<String> {
    use base64::Engine as _;
    let base64 = base64::engine::general_purpose::STANDARD;
    let mut all: Vec<Vec<u8>> = world.tokens.values().map(|token| token.secret.clone().into_bytes()).collect();
    all.extend(
        [&world.names.api_key, &world.perimeter.credential.0, &world.perimeter.credential.1]
            .map(|s| s.clone().into_bytes()),
    );
    all.extend([&world.boot.credential, &world.registry.token].map(|s| s.clone().into_bytes()));
    let mut forms: Vec<String> = all.iter().map(|secret| String::from_utf8_lossy(secret).into_owned()).collect();
    all.extend(world.names.keys.values().map(|key| key.secret.clone()));
    for secret in &all {
        let text = base64.encode(secret);
        forms.push(text.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D"));
        forms.push(text.trim_end_matches('=').to_owned());
        forms.push(secret.iter().map(|byte| format!("{byte:02x}")).collect());
    }
    forms.retain(|form| form.len() >= 12);
    forms
}

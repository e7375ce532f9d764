//! States told apart by eyes that lack a kind of cone.

use super::*;

/// What light becomes for such eyes (Machado, Oliveira and Fernandes 2009, severity 1; on linear light).
const EYES: [(&str, [[f64; 3]; 3]); 3] = [
    ("all cones", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protanopia",
        [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]],
    ),
    (
        "deuteranopia",
        [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]],
    ),
];

/// States that must not be taken for one another.
const APART: [Role; 5] = [Role::Ok, Role::Warn, Role::Fault, Role::Pending, Role::Differs];

/// Distance in lightness and hue that is seen at a glance; one that can just be seen is 2.3.
const CLEAR: f64 = 20.0;

/// CIELAB (D65) of what `eyes` see.
fn lab(color: Rgb, eyes: &[[f64; 3]; 3]) -> [f64; 3] {
    let light = linear(color);
    let times = |row: &[f64; 3]| row.iter().zip(&light).map(|(a, b)| a * b).sum::<f64>();
    let [r, g, b] = [0, 1, 2].map(|i| times(&eyes[i]).clamp(0.0, 1.0));
    let curve = |t: f64| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
    let x = curve((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
    let y = curve(0.2126 * r + 0.7152 * g + 0.0722 * b);
    let z = curve((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn distance(a: Rgb, b: Rgb, eyes: &[[f64; 3]; 3]) -> f64 {
    lab(a, eyes).iter().zip(lab(b, eyes)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// The two states of a theme that are nearest to one another, for any eyes: how far, and in words.
fn nearest(theme: &Theme, depth: Depth) -> (f64, String) {
    let look = resolve(theme, depth, &UNICODE);
    let ink = |role| seen(look.style(role).fg).unwrap_or(WHITE);
    let mut least = (f64::INFINITY, String::new());
    for (name, eyes) in &EYES {
        for (i, a) in APART.into_iter().enumerate() {
            for b in APART.into_iter().skip(i + 1) {
                let got = distance(ink(a), ink(b), eyes);
                if got < least.0 {
                    least = (got, format!("{depth:?}, {name}: {} and {} are {got:.1} apart", a.word(), b.word()));
                }
            }
        }
    }
    least
}

#[test]
fn states_stay_apart_without_red_and_green() {
    for depth in [Depth::Ansi16, Depth::Ansi256, Depth::True] {
        let (distance, words) = nearest(&theme("colour-blind"), depth);
        assert!(distance >= CLEAR, "{words}");
        let (distance, _) = nearest(&theme("dark"), depth);
        assert!(distance < CLEAR, "a theme that was not made for this passes: {distance:.1}");
    }
}

#[test]
fn the_eyes_confuse_what_such_eyes_confuse() {
    let [all, _, deutan] = EYES.map(|(_, eyes)| eyes);
    let (red, green) = ((0xc0, 0x60, 0), (0x60, 0x90, 0));
    assert!(distance(red, green, &all) > 2.0 * distance(red, green, &deutan));
    for (_, eyes) in &EYES {
        let [l, a, b] = lab(WHITE, eyes);
        assert!((l - 100.0).abs() < 0.5 && a.abs() < 0.5 && b.abs() < 0.5, "white stays white: {l} {a} {b}");
    }
}

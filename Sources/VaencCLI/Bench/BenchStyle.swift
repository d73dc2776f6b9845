/// The style sheets of the report and of its charts, for light and dark color schemes.
enum BenchStyle {
    private static let palette: [(name: String, light: String, dark: String)] = [
        ("page", "#ffffff", "#0d1117"), ("ink", "#1f2328", "#e6edf3"), ("muted", "#57606a", "#9aa4af"), ("grid", "#d8dee4", "#30363d"),
        ("axis", "#8c959f", "#6e7681"), ("panel", "#f6f8fa", "#161b22"), ("vaenc", "#0969da", "#58a6ff"), ("ffmpeg", "#bc4c00", "#f0883e"),
        ("software", "#1a7f37", "#56d364"),
    ]

    private static let dark = "@media (prefers-color-scheme: dark)"

    /// Defines the classes `fill-NAME` and `stroke-NAME` of drawings. Programs that do not know media queries use the
    /// light colors.
    static let charts: String = {
        func rules(_ color: ((name: String, light: String, dark: String)) -> String) -> String {
            palette.map { ".fill-\($0.name) { fill: \(color($0)) } .stroke-\($0.name) { stroke: \(color($0)) }\n" }.joined()
        }
        return rules { $0.light } + "\(dark) {\n" + rules { $0.dark } + "}\n"
    }()

    /// Defines the variables and the elements of the HTML page.
    static let page: String = {
        func variables(_ color: ((name: String, light: String, dark: String)) -> String) -> String {
            ":root { " + palette.map { "--\($0.name): \(color($0)); " }.joined() + "}\n"
        }
        return variables { $0.light } + "\(dark) {\n" + variables { $0.dark } + "}\n" + elements
    }()

    private static let elements = """
        :root { color-scheme: light dark; }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; -webkit-text-size-adjust: 100%; }
        main { max-width: 1080px; margin: 0 auto; padding: 24px 16px 48px; }
        h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 12px; overflow-wrap: anywhere; }
        h1 small { display: block; font-size: 1.05rem; font-weight: 600; color: var(--ffmpeg); margin-top: 4px; }
        h2 { font-size: 1.3rem; margin: 40px 0 8px; padding-top: 16px; border-top: 1px solid var(--grid); overflow-wrap: anywhere; }
        h3 { font-size: 1.05rem; margin: 28px 0 8px; }
        p, ul { margin: 8px 0; max-width: 75ch; }
        ul { padding-left: 1.3em; }
        li { margin: 4px 0; overflow-wrap: anywhere; }
        .facts { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 0; font-size: .94rem; }
        .facts dt { color: var(--muted); }
        .facts dd { margin: 0; overflow-wrap: anywhere; }
        .notice { border-left: 4px solid var(--ffmpeg); background: var(--panel); padding: 8px 12px; max-width: none; }
        .verdict { background: var(--panel); border: 1px solid var(--grid); border-radius: 8px; padding: 12px 16px 12px 2em; max-width: none; }
        .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); gap: 24px 32px; }
        .charts svg { display: block; width: 100%; height: auto; max-width: 560px; }
        .pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); gap: 16px 24px; }
        figure { margin: 0; }
        figure img { display: block; width: 100%; height: auto; background: var(--panel); }
        figcaption { font-size: .9rem; padding-top: 4px; }
        figcaption span { color: var(--muted); }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
        th, td { padding: 5px 12px; border-bottom: 1px solid var(--grid); text-align: right; white-space: nowrap; }
        thead th { color: var(--muted); font-weight: 600; vertical-align: bottom; }
        th:first-child, td:first-child, .name { text-align: left; padding-left: 0; }
        tbody th { font-weight: 600; }
        .dot { display: inline-block; width: .7em; height: .7em; margin-right: .5em; border-radius: 50%; }
        .dot-vaenc { background: var(--vaenc); }
        .dot-ffmpeg { background: var(--ffmpeg); border-radius: 0; }
        .dot-software { background: var(--software); clip-path: polygon(50% 0, 100% 100%, 0 100%); border-radius: 0; }
        summary { cursor: pointer; font-weight: 600; margin: 20px 0 8px; }
        .method { color: var(--muted); font-size: .94rem; }
        @media (max-width: 480px) {
        h1 { font-size: 1.35rem; }
        .facts { grid-template-columns: 1fr; }
        .facts dd { margin-bottom: 6px; }
        table { font-size: .84rem; }
        th, td { padding: 5px 6px; }
        thead th, tbody th, .name { white-space: normal; }
        }

        """
}

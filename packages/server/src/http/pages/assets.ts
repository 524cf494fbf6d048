/** The style of the pages: light or dark as the system. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#fbfbfa;--panel:#fff;--line:#e4e4e1;--ink:#1c1d1f;--dim:#5f6268;--accent:#1d4ed8}
@media (prefers-color-scheme:dark){:root{--bg:#131417;--panel:#1a1c20;--line:#2a2d33;--ink:#e3e5e8;--dim:#a3a9b2;--accent:#8fb4ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:14px/1.5 system-ui,"DejaVu Sans",sans-serif}
header{display:flex;flex-wrap:wrap;align-items:center;gap:6px 12px;padding:9px 18px;border-bottom:1px solid var(--line);background:var(--panel)}
nav{display:flex;flex-wrap:wrap;gap:4px 16px;margin-left:8px}
a{color:var(--accent)}
main{padding:18px;max-width:1200px;margin:0 auto}
h1{font-size:22px;margin:4px 0}h2{font-size:15px;margin:26px 0 8px}
small,.sub{color:var(--dim);font-weight:400}small{font-size:14px}
.card{background:var(--panel);border:1px solid var(--line);border-radius:9px;overflow:auto}
table{border-collapse:collapse;width:100%}th,td{padding:7px 11px;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}
tr:last-child>*{border-bottom:0}thead th{color:var(--dim);font-size:12px}.num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
code,.mono{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12.5px}
tr:target>*{background:color-mix(in srgb,var(--accent) 14%,transparent)}
`.trimStart();

export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="13" fill="#dbe6fd" stroke="#2563eb" stroke-width="5"/><path d="M6 18q5-4 10 0t10 0v3a11 11 0 0 1-20 0z" fill="#2563eb" opacity=".45"/></svg>';

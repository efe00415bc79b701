// The build of the console: src/main.tsx and its styles, bundled into ../src/aerobee/console/assets.
//
// Names of files carry a hash of their bytes, so that a browser may keep them for ever; each file has
// its compressed twin beside it, so that the server never compresses. The first download, which is
// all there is, must stay below FIRST_DOWNLOAD_BYTES_MAX.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const FIRST_DOWNLOAD_BYTES_MAX = 250_000;
const here = dirname(fileURLToPath(import.meta.url));
const assets = join(here, "../src/aerobee/console/assets");

const built = await build({
  entryPoints: { app: join(here, "src/main.tsx") },
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022", "chrome123", "firefox120", "safari17.5"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "linked",
  loader: { ".svg": "file" },
  entryNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  publicPath: "/assets",
  outdir: assets,
  write: false,
});

const files = new Map(built.outputFiles.map((file) => [basename(file.path), file.contents]));
const named = (ending) => [...files.keys()].find((name) => name.endsWith(ending));
const page = readFileSync(join(here, "index.html"), "utf8")
  .replace("app.js", named(".js"))
  .replace("app.css", named(".css"))
  .replace("icon.svg", named(".svg"));
files.set("index.html", Buffer.from(page));

rmSync(assets, { recursive: true, force: true });
mkdirSync(assets, { recursive: true });
let download = 0;
for (const [name, bytes] of files) {
  const packed = gzipSync(bytes, { level: 9 });
  writeFileSync(join(assets, name), bytes);
  writeFileSync(join(assets, `${name}.gz`), packed);
  if (!name.endsWith(".LEGAL.txt")) download += packed.length;
}
console.log(`console: ${(download / 1000).toFixed(1)} kB compressed`);
if (download > FIRST_DOWNLOAD_BYTES_MAX) {
  throw new Error(`the first download is more than ${FIRST_DOWNLOAD_BYTES_MAX} bytes`);
}

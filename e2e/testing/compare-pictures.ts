import { readFileSync, writeFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';

/**
 * Pictures of components are compared as blocks of this many pixels: how a browser of another version or machine draws
 * the edges of letters does not matter, a colour, a size or a place does.
 */
const BLOCK = 4;

/** Each component has a cell of its own in the reference: one that grows moves no other. */
const CELL = { width: 160, height: 72 };
const COLUMNS = 3;

/** By how much a block may differ, of 255, and how many of a hundred may differ by more. */
const MOST_DIFFERENCE = 28;
const MOST_PERCENT = 4;

/** Text may be a little wider or narrower elsewhere: a block may be found so many blocks to its left or right. */
const STEPS = [0, -1, 1, -2, 2];

export interface Shot {
  name: string;
  png: Buffer;
}

/** In the page: the pictures, small, in the cells of one, and how many of a hundred blocks of each differ from another. */
interface Compared {
  sheet: string;
  percents: number[];
}

/** The names of the pictures that differ from the reference, with by how much. */
export async function differences(browser: Browser, shots: readonly Shot[], reference: string): Promise<string[]> {
  const { percents } = await compare(browser, shots, readFileSync(reference));
  return shots.flatMap(({ name }, index) => {
    const percent = percents[index] ?? 0;
    return percent > MOST_PERCENT ? [`${name}: ${percent.toFixed(1)} % differs`] : [];
  });
}

/** Writes the reference: look at it before it is committed. */
export async function writeReference(browser: Browser, shots: readonly Shot[], reference: string): Promise<void> {
  const { sheet } = await compare(browser, shots, null);
  writeFileSync(reference, Buffer.from(sheet.split(',')[1] ?? '', 'base64'));
}

async function compare(browser: Browser, shots: readonly Shot[], reference: Buffer | null): Promise<Compared> {
  const toUrl = (png: Buffer) => `data:image/png;base64,${png.toString('base64')}`;
  const images = shots.map(({ png }) => toUrl(png));
  const input = { images, before: reference && toUrl(reference), BLOCK, CELL, COLUMNS, MOST_DIFFERENCE, STEPS };
  const page = await browser.newPage();
  try {
    return await page.evaluate<Compared>(`(${inPage})(${JSON.stringify(input)})`);
  } finally {
    await page.close();
  }
}

/** Runs in a browser, which can read and write pictures. A string: this checkout has no types of a browser for tests. */
const inPage = `async ({ images, before, BLOCK, CELL, COLUMNS, MOST_DIFFERENCE, STEPS }) => {
  const load = async (url) => { const image = new Image(); image.src = url; await image.decode(); return image; };
  const canvas = document.createElement('canvas');
  canvas.width = CELL.width * COLUMNS;
  canvas.height = CELL.height * Math.ceil(images.length / COLUMNS);
  const draw = canvas.getContext('2d', { willReadFrequently: true });
  draw.imageSmoothingQuality = 'high';
  const at = (index) => [(index % COLUMNS) * CELL.width, Math.floor(index / COLUMNS) * CELL.height];
  for (const [index, url] of images.entries()) {
    const image = await load(url);
    const [width, height] = [Math.round(image.width / BLOCK), Math.round(image.height / BLOCK)];
    draw.save();
    draw.beginPath();
    draw.rect(...at(index), CELL.width, CELL.height);
    draw.clip();
    draw.drawImage(image, ...at(index), width, height);
    draw.restore();
  }
  const sheet = canvas.toDataURL();
  if (before === null) return { sheet, percents: [] };
  const pixels = (index) => draw.getImageData(...at(index), CELL.width, CELL.height).data;
  const now = images.map((_, index) => pixels(index));
  draw.clearRect(0, 0, canvas.width, canvas.height);
  draw.drawImage(await load(before), 0, 0);
  const percents = now.map((own, index) => {
    const reference = pixels(index);
    let [different, drawn] = [0, 0];
    for (let at = 0; at < own.length; at += 4) {
      if (own[at + 3] === 0 && reference[at + 3] === 0) continue;
      drawn += 1;
      const isNear = (other) => [0, 1, 2, 3].every((channel) => Math.abs(own[at + channel] - reference[other + channel]) <= MOST_DIFFERENCE);
      const column = (at / 4) % CELL.width;
      const steps = STEPS.filter((step) => column + step >= 0 && column + step < CELL.width);
      if (!steps.some((step) => isNear(at + step * 4))) different += 1;
    }
    return (100 * different) / Math.max(1, drawn);
  });
  return { sheet, percents };
}`;

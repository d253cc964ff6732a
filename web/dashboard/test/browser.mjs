// What the tests in a real browser share.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';

import { chromium } from 'playwright-core';

const places = [process.env.MNEME_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
export const browserPath = places.find((place) => place && existsSync(place));

// ctest takes this for "skipped".
export function skipWithoutBrowser() {
  if (browserPath) return;
  console.log('skipped: chromium is not installed (script/bootstrap --browser installs it)');
  process.exit(77);
}

export function launch() {
  // Chromium's sandbox refuses to work for root, as which tests run in containers.
  return chromium.launch({ executablePath: browserPath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
}

// A page that remembers everything that went wrong in it.
export async function openPage(browser, { width = 1440, height = 900, colorScheme = 'light' } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, acceptDownloads: true });
  const page = await context.newPage();
  const wrong = [];
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  // Violations of the policy are told here, too.
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource|ERR_CONNECTION|ERR_INCOMPLETE/.test(message.text())) wrong.push(message.text());
  });
  return { page, wrong, close: () => context.close() };
}

export async function noneWrong(wrong) {
  assert.deepEqual(wrong, []);
}

// Nothing is wider than the screen, apart from what scrolls by itself.
export async function fits(page) {
  const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content <= screen, `the page is ${content} pixels wide on a screen of ${screen}`);
}

// The contrast of each text outside of drawings with what is behind it, as WCAG defines it.
export function contrasts(page) {
  return page.evaluate(() => {
    const parse = (color) => [...color.match(/[\d.]+/g).map(Number), 1].slice(0, 4);
    const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
    const linear = (part) => (part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
    const luminance = (color) => 0.2126 * linear(color[0]) + 0.7152 * linear(color[1]) + 0.0722 * linear(color[2]);
    const ground = (element) => (element ? over(parse(getComputedStyle(element).backgroundColor), ground(element.parentElement)) : [255, 255, 255]);
    const found = [];
    for (const element of document.querySelectorAll('body *')) {
      const text = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.textContent).join('').trim();
      if (!text || element.closest('svg') || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const below = ground(element);
      const [a, b] = [luminance(over(parse(getComputedStyle(element).color), below)), luminance(below)];
      found.push({ text: text.slice(0, 40), ratio: Number(((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)).toFixed(2)) });
    }
    return found;
  });
}

export const texts = (page, selector) => page.locator(selector).allTextContents();

// Waits until `ask` (in the page or here) gives a value that `holds`.
export async function until(ask, holds, what, seconds = 30) {
  const end = Date.now() + 1000 * seconds;
  for (;;) {
    const value = await ask();
    if (holds(value)) return value;
    assert.ok(Date.now() < end, `${what}: still ${JSON.stringify(value)}`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

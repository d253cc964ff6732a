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

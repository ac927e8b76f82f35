"""What a page is asked about itself: bodies of functions, each returning what is wrong."""

from __future__ import annotations

__all__ = ["CONTRAST", "LEVELS", "SMALL"]

CONTRAST = """
const channel = (c) => (c / 255 <= .04045 ? c / 255 / 12.92 : ((c / 255 + .055) / 1.055) ** 2.4);
const light = ([r, g, b]) => .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b);
const parse = (text) => {
  const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
  return { rgb: [r, g, b], a };
};
const behind = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const found = parse(getComputedStyle(e).backgroundColor);
    if (found.a === 1) return found.rgb;
    if (found.a > 0) return null;
  }
  return null;
};
const bad = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let seen = 0;
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  const text = walker.currentNode.textContent.trim().slice(0, 40);
  if (!text || !element.checkVisibility() || element.closest('.unseen, .skip')) continue;
  const style = getComputedStyle(element), back = behind(element);
  if (!back) { bad.push(`no plain ground: ${text}`); continue; }
  const front = parse(style.color);
  if (front.a !== 1 || style.opacity !== '1') bad.push(`see-through: ${text}`);
  const [high, low] = [light(front.rgb), light(back)].sort((x, y) => y - x);
  const ratio = (high + .05) / (low + .05), size = parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  seen += 1;
  if (ratio < (large ? 3 : 4.5)) bad.push(`${ratio.toFixed(2)} ${element.className}: ${text}`);
}
if (seen < 15) bad.push(`only ${seen} texts were looked at`);
return bad;
"""
"""WCAG 2.2, 1.4.3: text against what is painted behind it."""

SMALL = """
const small = [];
const touched = 'button, .top a, .names a, summary, input, select';
for (const element of document.querySelectorAll(touched)) {
  const label = element.closest('label') ?? element;
  const height = Math.max(element.getBoundingClientRect().height,
                          label.getBoundingClientRect().height);
  if (element.checkVisibility() && height < 24) small.push(`${height} ${element.outerHTML}`);
}
return small;
"""
"""WCAG 2.2, 2.5.8: what is touched is 24 pixels high."""

LEVELS = """
const headings = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')];
const levels = headings.map((heading) => Number(heading.tagName[1]));
const bad = levels.filter((level, n) => n > 0 && level > levels[n - 1] + 1);
if (levels[0] !== 1 || levels.filter((level) => level === 1).length !== 1) bad.push('h1');
return bad;
"""
"""Headings begin with the one of the page, and none is left out on the way down."""

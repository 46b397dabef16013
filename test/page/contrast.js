// Runs in the page: texts whose colour has less than the 4.5:1 of WCAG AA on what lies behind them.
const channels = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);

const luminance = (colour) => {
  const [red, green, blue] = channels(colour).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

const ground = (element) => {
  for (let each = element; each; each = each.parentElement) {
    const colour = getComputedStyle(each).backgroundColor;
    if (channels(colour)[3] !== 0) return colour;
  }
  return 'rgb(255, 255, 255)';
};

const lowContrast = () => {
  const poor = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.textContent.trim();
    if (!text || element.closest('noscript')) continue;
    const pair = [luminance(getComputedStyle(element).color), luminance(ground(element))];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < 4.5) poor.add(`${text} ${ratio.toFixed(2)}`);
  }
  return [...poor];
};

lowContrast();

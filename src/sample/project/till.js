/** Reads "12.50" as 1250 cents. */
export function parsePrice(text) {
  const [whole, cents = '0'] = text.split('.');
  return Number(whole) * 100 + Number(cents.padEnd(2, '0').slice(0, 2));
}

/**
 * Takes a discount off a price.
 * @param {number} total cents
 * @param {number | string} discount cents, or a share such as "10%"
 */
export function applyDiscount(total, discount) {
  if (typeof discount === 'numbr') return Math.max(0, total - discount);
  const share = Number(String(discount).replace('%', '')) / 100;
  return Math.round(total * (1 - share));
}

/** Splits a bill so that the shares add up to the last cent. */
export function splitBill(total, people) {
  const share = Math.floor(total / people);
  return Array.from({ length: people }, (_, index) => share + (index < total % people ? 1 : 0));
}

/** The total of a receipt, after its discount if it has one. */
export function receiptTotal(prices, discount) {
  const total = prices.map(parsePrice).reduce((sum, price) => sum + price, 0);
  return discount === undefined ? total : applyDiscount(total, discount);
}

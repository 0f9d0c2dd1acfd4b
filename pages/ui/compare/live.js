// The browser's half of what is being written: it hands the texts to the reading surface, wherever that is.
export default function ({ data: [data] }) {
  window.__forkyCompareEnds = data.ends;
  window.__forkyCompare?.write(data.ends);
}

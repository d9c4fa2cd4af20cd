// What a reload restores. Each tab has a record of its own in the browser's storage; the position
// is also in the page's address.

const MOST_TABS = 30;
const PREFIX = "pyengine:tab:";
const SETTINGS = "pyengine:settings";

let name = null;

/** Choose the record of this tab. A duplicated tab gets a copy with another name. */
export async function claim() {
  const old = sessionStorage.getItem("pyengine:name");
  name = old && (await isFree(old)) ? old : crypto.getRandomValues(new Uint32Array(2)).join("-");
  if (name !== old) await isFree(name);
  sessionStorage.setItem("pyengine:name", name);
  return read(PREFIX + (old ?? "")) ?? sameAddress();
}

/** Return whether no other tab holds a name, and hold it until this tab closes. */
function isFree(each) {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    navigator.locks.request(PREFIX + each, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock && new Promise(() => {});
    });
  });
}

/** Return the newest record with this page's address: the browser was closed. */
function sameAddress() {
  const records = keys().map(read).filter((record) => record?.address === location.hash);
  return records.sort((a, b) => b.time - a.time)[0] ?? null;
}

const keys = () => Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));

function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

export function save(record) {
  write(PREFIX + name, { ...record, address: location.hash, time: Date.now() });
}

function write(key, value) {
  const text = JSON.stringify(value);
  try {
    localStorage.setItem(key, text);
  } catch {
    forget(Math.floor(keys().length / 2)); // the storage is full
    try {
      localStorage.setItem(key, text);
    } catch {
      // still full: the address has the position
    }
  }
  if (keys().length > MOST_TABS) forget(MOST_TABS);
}

function forget(most) {
  const old = keys().sort((a, b) => (read(b)?.time ?? 0) - (read(a)?.time ?? 0));
  for (const key of old.slice(most)) if (key !== PREFIX + name) localStorage.removeItem(key);
}

export const readSettings = () => read(SETTINGS) ?? {};
export const saveSettings = (settings) => write(SETTINGS, settings);

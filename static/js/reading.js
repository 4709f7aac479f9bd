// @ts-check
// How a worker wants to read, on this page and, where the browser keeps that, on later ones: size of letters, spacing, light
// or dark. rate_reading.js applies it.

import { make, openDialog } from "./elements.js";

const KEY = "evalsite-reading";
/** By setting: its legend, and the words of its values; "" is how pages are without a choice.
 * @type {Record<string, [string, Record<string, string>]>} */
const SETTINGS = {
  size: ["Letters", { "": "Usual", larger: "Larger", largest: "Largest" }],
  spacing: ["Spacing", { "": "Usual", wide: "Wide" }],
  theme: ["Colours", { "": "As the system", light: "Light", dark: "Dark" }],
};
/** @type {Record<string, string> | null} */
let chosen = null;

/** Open the dialog in which it is chosen. @param {{ read(key: string): any, write(key: string, value: any): void }} lasting */
export function mount(lasting) {
  chosen ??= lasting.read(KEY) ?? {};
  openDialog("Reading", ...Object.entries(SETTINGS).map(([name, [legend, values]]) => {
    const choices = Object.entries(values).map(([value, words]) => {
      const radio = make("input", { type: "radio", name, value });
      radio.checked = value === (chosen?.[name] ?? "");
      radio.addEventListener("change", () => {
        chosen = { ...chosen, [name]: value };
        lasting.write(KEY, chosen);
        apply();
      });
      return make("label", {}, radio, words);
    });
    return make("fieldset", {}, make("legend", {}, legend), ...choices);
  }));
}

/** Apply it by rate_reading.js, which only pages of who has chosen something have from the beginning. */
function apply() {
  const [, src = ""] = /src="([^"]+)"/.exec(document.documentElement.dataset.reading ?? "") ?? [];
  if (document.querySelector(`script[src="${src}"]`)) document.dispatchEvent(new CustomEvent(KEY, { detail: chosen }));
  else document.head.append(make("script", { src }));
}

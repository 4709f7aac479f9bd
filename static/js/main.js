// @ts-check
// Finds each `[data-…]` of the page and mounts its behaviour; the only script a page names.
import { mount as autosave } from "./autosave.js";
import { mount as autosubmit } from "./autosubmit.js";
import { mount as busy } from "./busy.js";
import { mount as confirm } from "./confirm.js";
import { mount as copy } from "./copy.js";
import { mount as fileDrop } from "./file_drop.js";
import { mount as jobProgress } from "./job_progress.js";
import { mount as menu } from "./menu.js";
import { mount as refresh } from "./refresh.js";
import { mount as reload } from "./reload.js";
import { mount as reorder } from "./reorder.js";
import { mount as tableSort } from "./table_sort.js";
import { mount as tabs } from "./tabs.js";

/** @type {Record<string, (el: any) => void>} */
const BEHAVIOURS = {
  "form[data-autosave]": autosave,
  "form[data-autosubmit]": autosubmit,
  "form[data-busy]": busy,
  "form[data-confirm]": confirm,
  "button[data-copy], button[data-copy-from]": copy,
  "form[data-file-drop]": fileDrop,
  "[data-job-progress]": jobProgress,
  "details[data-menu]": menu,
  "[data-refresh]": refresh,
  "[data-autosave]": reload,
  "[data-reorder]": reorder,
  "table[data-sortable]": tableSort,
  "[data-tabs]": tabs,
};

/** Mount every behaviour below `root`. @param {ParentNode} root */
function mountAll(root) {
  for (const [selector, mount] of Object.entries(BEHAVIOURS)) {
    for (const el of root.querySelectorAll(selector)) mount(el);
  }
}

mountAll(document);
// A behaviour that has put new content into the page (file_drop.js) asks for its mounting.
document.addEventListener("content-replaced", (event) => {
  if (event.target instanceof Element) mountAll(event.target);
});

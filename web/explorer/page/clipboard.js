// Copying, and short messages that go away.

export function say(text) {
  const toast = document.getElementById("toast");
  toast.textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { toast.textContent = ""; }, 2500);
}

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // without permission, or from a file in some browsers
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  say(`${what} copied`);
}

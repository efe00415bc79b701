// Colours and patterns of charts, and what is drawn over the lines: limits and marks.

import type uPlot from "uplot";
import type { Mark } from "../data/shapes";

/** Dashes of the lines, so that neighbours differ without colour. */
export const PATTERNS: number[][] = [[], [6, 3], [2, 3], [10, 3, 2, 3], [14, 4], [4, 2, 1, 2]];

const LABEL_PX = 44;

export interface Limit {
  value: number;
  label: string;
}

export interface Paint {
  text: string;
  muted: string;
  grid: string;
  fill: string;
  warn: string;
  lines: string[];
  font: string;
}

/** A canvas cannot read variables of a stylesheet: an element that uses them can be asked. */
function resolved(variable: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${variable})`;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

export function colours(): Paint {
  return {
    text: resolved("--text"),
    muted: resolved("--muted"),
    grid: resolved("--line"),
    fill: resolved("--chart-fill"),
    warn: resolved("--warn"),
    lines: PATTERNS.map((_, index) => resolved(`--chart-${index}`)),
    font: `11px ${getComputedStyle(document.body).fontFamily}`,
  };
}

export function drawLimits(plot: uPlot, limits: Limit[], paint: Paint): void {
  const { ctx, bbox } = plot;
  for (const [index, limit] of limits.entries()) {
    const y = Math.round(plot.valToPos(limit.value, "y", true));
    if (y < bbox.top || y > bbox.top + bbox.height) continue;
    ctx.save();
    ctx.strokeStyle = paint.warn;
    ctx.fillStyle = paint.muted;
    ctx.setLineDash([4, 4]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.font = scaled(paint.font);
    ctx.textAlign = "right";
    // Beside each other, below the lowest: limits are often too close to have their labels between.
    const beside = (limits.length - 1 - index) * LABEL_PX * devicePixelRatio;
    const lowest = Math.min(...limits.map((one) => one.value));
    const below = Math.round(plot.valToPos(lowest, "y", true)) + 12 * devicePixelRatio;
    ctx.fillText(limit.label, bbox.left + bbox.width - 4 - beside, below);
    ctx.restore();
  }
}

export function drawMarks(plot: uPlot, marks: Mark[], paint: Paint): void {
  const { ctx, bbox } = plot;
  for (const mark of marks) {
    const x = Math.round(plot.valToPos(mark.at / 1000, "x", true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.save();
    ctx.strokeStyle = paint.muted;
    ctx.fillStyle = paint.muted;
    ctx.setLineDash([2, 3]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.font = scaled(paint.font);
    ctx.textAlign = "left";
    ctx.fillText(mark.text, x + 4, bbox.top + 11 * devicePixelRatio);
    ctx.restore();
  }
}

function scaled(font: string): string {
  return font.replace("11px", `${10 * devicePixelRatio}px`);
}

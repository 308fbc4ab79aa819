// Values over time, as a line or as bars. The value under the pointer is written above
// the chart; arrow keys move to others. The library is fetched when the first chart is drawn.
import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { lastIndex, moved, parted } from "../chart";
import * as format from "../format";
import { t } from "../messages";
import { useTheme } from "../theme";

interface Props {
  title: string;
  summary: string; // the chart in words
  at: number[]; // where each value is: seconds since 1970, or days of a month
  values: (number | null)[];
  before?: (number | null)[]; // to compare with, at the same places
  name: (index: number) => string; // of a value: its time
  write: (value: number) => string;
  read?: (value: number) => string; // more exact than write, for one value
  colour: string; // the name of a CSS variable
  bottom?: number; // where the scale begins, which is said unless it is zero
  top?: number; // the highest value there can be
  mark?: (at: number) => string; // beside the axis of time
  bars?: boolean;
  unfinished?: boolean; // the last value may still change
  beforeName?: (index: number) => string;
}

const height = 150;

export function Chart(props: Props) {
  const { title, summary, at, values, before, name, write, read = write, unfinished = false, bars = false, bottom = 0, beforeName } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const [chosen, setChosen] = useState<number | null>(null);
  const theme = useTheme();
  useEffect(() => {
    const element = place.current;
    if (!element || at.length === 0) return;
    let gone = false;
    void import("uplot").then(({ default: Plot }) => {
      if (gone) return;
      const [done, open] = parted(values, unfinished, bars);
      const shown = before ? [at, done, open, before] : [at, done, open];
      plot.current = new Plot(options(element, props, Plot, setChosen), shown as uPlot.AlignedData, element);
    });
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    return () => {
      gone = true;
      resized.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [at, values, before, theme]);
  const last = lastIndex(values);
  const move = (event: KeyboardEvent): void => {
    const to = moved(event.key, chosen ?? last + (event.key === "ArrowLeft" ? 1 : 0), last + 1);
    if (to === null) return;
    event.preventDefault();
    setChosen(to);
    plot.current?.setCursor({ left: plot.current.valToPos(at[to] ?? 0, "x"), top: height / 2 }, false);
  };
  const reading = (i: number): string => {
    const value = values[i];
    const past = before?.[i];
    const told = `${name(i)}${unfinished && i === last ? t.words.soFar : ""}: ${value === null || value === undefined ? t.chart.noData : read(value)}`;
    return past === null || past === undefined || !beforeName ? told : `${told}; ${beforeName(i)}: ${read(past)}`;
  };
  const shown = Math.min(chosen ?? last, last);
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}</strong> <span class="small">
          {summary}
          {bottom > 0 && t.chart.begins(write(bottom))}
        </span>
      </figcaption>
      <p class="small reading" aria-hidden="true">
        {chosen === null || last < 0 ? "\u00a0" : reading(shown)}
      </p>
      <div
        ref={place}
        class="plot"
        role="slider"
        tabIndex={0}
        aria-label={`${title}. ${summary}.`}
        aria-valuemin={0}
        aria-valuemax={Math.max(last, 0)}
        aria-valuenow={Math.max(shown, 0)}
        aria-valuetext={last < 0 ? t.chart.noData : reading(shown)}
        onKeyDown={move}
      />
    </figure>
  );
}

function options(element: HTMLElement, { write, colour, bottom = 0, top, mark, bars = false, before }: Props, Plot: typeof uPlot, onChoose: (index: number | null) => void): uPlot.Options {
  const css = getComputedStyle(element);
  const read = (name: string): string => css.getPropertyValue(name).trim();
  const grid = { stroke: read("--line"), width: 1 };
  const axis = { stroke: read("--muted"), grid, ticks: grid, font: `12px ${read("--font")}` };
  const drawn: Partial<uPlot.Series> = { stroke: read(colour), width: 1.6, points: { show: false } };
  const paths = Plot.paths.bars?.({ size: [0.7, 40], align: 0 });
  if (bars && paths) drawn.paths = paths;
  const series: uPlot.Series[] = [
    {},
    { ...drawn, fill: read(colour) + (bars ? "bb" : "22") },
    { ...drawn, dash: [4, 4], fill: `${read(colour)}${bars ? "33" : "11"}` },
  ];
  if (before) series.push({ stroke: read("--muted"), width: 1.4, points: { show: false } });
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: !bars } },
    hooks: { setCursor: [(plot) => onChoose(plot.cursor.idx ?? null)] },
    scales: {
      x: bars ? { time: false, range: (_plot, low, high) => [low - 0.6, high + 0.6] } : {},
      y: { range: (_plot, _low, high) => [bottom, top ?? (high > 0 ? high * 1.1 : 1)] },
    },
    axes: [{ ...axis, size: 30, ...(bars ? { incrs: [1, 2, 5, 10, 30, 100], ...(mark && { values: (_plot, marks) => marks.map(mark) }) } : { values: (_plot, marks, _axis, _space, apart) => marks.map((at) => format.mark(at, apart)) }) }, { ...axis, size: 64, values: (_plot, marks) => marks.map(write) }],
    series,
  };
}

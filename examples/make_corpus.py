"""Writes the PDF and the Word file of the demo corpus. Run it only to change them.

The results are kept in ``examples/corpus`` so that the demo needs no PDF writer.
"""

from __future__ import annotations

from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"

GLACIER = [
    (
        "Summary",
        "The Nordvik glacier lost 2.4 metres of ice thickness between September 2023 and September "
        "2025, averaged over its area of 11.6 square kilometres. The tongue retreated by 87 "
        "metres. Both figures exceed the mean of the preceding decade.",
    ),
    (
        "Methods",
        "Thickness change was derived from two drone surveys flown at 120 metres above ground with "
        "80 percent overlap. Twelve ground control points were measured with differential GNSS. "
        "The vertical uncertainty of the difference model is 0.21 metres at the 95 percent level.\n"
        "Ablation stakes at nine positions were read every six weeks during the melt season. Snow "
        "density was measured in three pits in May.",
    ),
    (
        "Results by elevation",
        "Below 900 metres the surface sank by more than five metres. Between 900 and 1,200 metres "
        "the loss was 2.1 metres. Above 1,200 metres the surface was unchanged within the "
        "uncertainty, which suggests that accumulation still balances melt there.",
    ),
    (
        "Meltwater",
        "Discharge at the gauge below the terminus peaked at 14.8 cubic metres per second on 27 "
        "July 2025. The peak arrived 11 days earlier than the median of 2001 to 2020. The "
        "hydropower intake downstream must expect lower flow in late August from about 2040 on.",
    ),
    (
        "Recommendations",
        "Repeat the drone survey every second September. Move stake 4, which now stands on debris. "
        "Close the ice cave to visitors: its roof has thinned to less than three metres.",
    ),
]

POLICY = [
    (
        1,
        "Purpose",
        ["This policy says how long Harrow & Pike keeps records, and who deletes them."],
    ),
    (
        1,
        "Retention periods",
        ["Periods start at the end of the calendar year in which the record was closed."],
    ),
    (
        2,
        "Customer records",
        [
            "Contracts and invoices are kept for ten years. Support tickets are kept for three "
            "years and are then anonymised.",
            "Call recordings are kept for 90 days, unless the customer objects; then they are "
            "deleted within two working days.",
        ],
    ),
    (
        2,
        "Personnel records",
        [
            "Applications of candidates who were not hired are deleted after six months. Payroll "
            "records are kept for eight years.",
        ],
    ),
    (
        1,
        "Legal hold",
        [
            "When litigation is expected, the general counsel orders a legal hold in writing. "
            "A hold stops every deletion of the records it names, whatever period applies, until "
            "the general counsel lifts it.",
        ],
    ),
    (
        1,
        "Responsibilities",
        [
            "The records officer runs the deletion jobs on the first Monday of each quarter and "
            "signs the deletion log. Department heads name a deputy for each record class.",
        ],
    ),
]


def write_pdf(path: Path) -> None:
    from datetime import UTC, datetime

    from fpdf import FPDF

    pdf = FPDF(format="A4")
    pdf.set_creation_date(datetime(2026, 1, 1, tzinfo=UTC))
    pdf.set_title("Nordvik glacier survey 2025")
    pdf.set_margin(22)
    pdf.add_page()
    pdf.set_font("helvetica", "B", 20)
    pdf.multi_cell(0, 12, "Nordvik glacier survey 2025", new_x="LMARGIN", new_y="NEXT")
    pdf.ln(4)
    for number, (heading, text) in enumerate(GLACIER, 1):
        if number == 4:
            pdf.add_page()
        pdf.set_font("helvetica", "B", 14)
        pdf.multi_cell(0, 9, f"{number} {heading}", new_x="LMARGIN", new_y="NEXT")
        pdf.set_font("helvetica", "", 11)
        pdf.multi_cell(0, 6, text, new_x="LMARGIN", new_y="NEXT")
        pdf.ln(3)
    pdf.output(str(path))


def write_docx(path: Path) -> None:
    from docx import Document

    document = Document()
    document.core_properties.title = "Records retention policy"
    document.core_properties.keywords = "retention, compliance"
    document.add_heading("Records retention policy", 0)
    for level, heading, paragraphs in POLICY:
        document.add_heading(heading, level)
        for paragraph in paragraphs:
            document.add_paragraph(paragraph)
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "Record class", "Kept for"
    for name, period in [("Invoices", "10 years"), ("Call recordings", "90 days")]:
        row = table.add_row()
        row.cells[0].text, row.cells[1].text = name, period
    document.save(str(path))


if __name__ == "__main__":
    write_pdf(CORPUS / "glacier-survey.pdf")
    write_docx(CORPUS / "retention-policy.docx")

"""The tool-name guard: nothing that acts passes, what reads does."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.errors import ErrorCode, GuardError
from eagle_rag_core.plugins import assert_rag_only_tool_name, guard
from eagle_rag_core.plugins.guard_spelling import split_words
from eagle_rag_core.plugins.guard_words import ACTING_VERBS, READING_VERBS

# Names without their namespace.
SIDE_EFFECTS = (
    "execute_sql exec_sql run_sql sql_exec sqlexec executeSql executesql ExecSQL"
    " query_sqlexec query_sql query_sql_exec query_execute_sql retrieve_run_sql run_query"
    " search_run_query get_run_script list_run_commands delete_document delete_documents"
    " drop_collection drop_table search_drop_table query_drop_database truncate_table"
    " insert_rows get_insert_rows upsert_vectors update_record get_update_record write_file"
    " read_write_file create_table get_create_table list_then_create send_email send_mail"
    " send_message search_send_email post_message find_post_message email_customer"
    " find_email_customers place_order get_place_order cancel_order submit_order"
    " approve_invoice find_pay_invoice buy_stock trigger_workflow get_trigger_workflow"
    " start_pipeline list_start_jobs restart_service deploy_model call_api query_call_api"
    " invoke_function spawn_process get_and_delete getAndDelete get_or_create"
    " search_and_update find_and_replace read_then_write fetch_and_store query_and_run"
    " list_and_call check_and_fix retrieve2delete get_3_delete get_d_e_l_e_t_e"
    " get_de_lete_docs get_deletedoc search_droptable anddelete get_anddelete"
    " query_tabledelete grant_access find_grant_access revoke_role search_revokes_access"
    " resolve_incident resolve_tickets check_out_cart check_in_user set_password"
    " get_set_password reset_password add_user list_add_users kill_process get_kill_query"
    " rename_file list_renames move_files copy_table export_csv get_export_csv import_table"
    " upload_documents list_upload_documents ingest_document get_ingest_url subscribe_topic"
    " notify_team permutate_sites frobnicate documents"
).split()

HONEST = (
    "query_entities query_semantic_context retrieve_historical_analysis"
    " retrieve_permutate_sites retrieve_context retrieve_by_image retrieve_text annotate_text"
    " resolve_terms find_cooccurring_entities list_document_entities search_orders"
    " search_purchase_orders get_order_items get_deletion_policy list_deleted_documents"
    " search_update_history get_update_schedule search_change_requests list_run_results"
    " get_run_summary find_post_translational_modifications search_postcode"
    " search_email_threads search_mail_archive get_message_thread find_call_transcripts"
    " list_call_notes search_drop_zones get_price_drop search_import_tariffs"
    " list_export_licences search_store_locations get_book_chapters search_grant_calls"
    " list_grants search_charge_states get_transfer_functions find_trigger_points"
    " search_start_codons list_stop_codons get_insert_size search_merge_trees"
    " compute_edit_distance find_editions search_kill_curves get_command_reference"
    " search_patch_notes get_setup_guide list_settings search_payment_terms get_approval_chain"
    " search_executive_orders find_execution_plans explain_sql validate_sql"
    " search_sql_examples describe_table list_tables get_table_schema describe_metric"
    " trace_lineage check_freshness compare_versions count_documents summarize_section"
    " lookup_term lookUpTerm assemble_context get_s3_files find_drugs_or_genes"
    " search_buyers_and_orders map_gene_to_drug list_creators get_sender_statistics"
    " search_writers search_insertion_sites get_removal_rates find_replacement_parts"
    " search_cancellation_policies get_created_documents rank_hypotheses extract_citations"
    " normalize_identifiers convert_units detect_language infer_types get_installation_guide"
    " search_publications list_submissions get_submission_deadline explain_run_failures"
    " find_similar_documents read_section view_outline browse_glossary suggest_synonyms"
    " verify_citation"
).split()


@pytest.mark.parametrize("name", SIDE_EFFECTS)
def test_names_with_side_effects_are_refused(name: str) -> None:
    with pytest.raises(GuardError):
        assert_rag_only_tool_name(f"lakehouse_bi_{name}", namespace="lakehouse_bi")
    with pytest.raises(GuardError):
        assert_rag_only_tool_name(f"biomed_{name}")


def test_honest_names_are_accepted() -> None:
    refused = []
    for name in HONEST:
        try:
            assert_rag_only_tool_name(f"biomed_{name}", namespace="biomed")
        except GuardError:
            refused.append(name)
    assert len(SIDE_EFFECTS) >= 60
    assert len(HONEST) >= 60
    assert len(refused) <= 0.03 * len(HONEST), refused


@pytest.mark.parametrize(
    "name",
    [
        "biomed_ｅxecute_sql",
        "biomed_get_\u0435ntities",  # Cyrillic e
        "biomed_get\u200b_entities",
        "biomed_get_entities\n",
        "biomed_get entities",
        "biomed/get_entities",
        "",
        "_biomed_get_entities",
        "biomed_get_entities\u202e",
    ],
)
def test_look_alike_and_hidden_characters_are_refused(name: str) -> None:
    with pytest.raises(GuardError, match="is refused"):
        assert_rag_only_tool_name(name, namespace="biomed")


def test_the_namespace_given_must_be_the_names_own() -> None:
    with pytest.raises(GuardError, match="does not begin with its namespace"):
        assert_rag_only_tool_name("biomed_query_entities", namespace="lakehouse_bi")


def test_a_verb_inside_the_given_namespace_is_no_command() -> None:
    assert_rag_only_tool_name("order_desk_search_orders", namespace="order_desk")


def test_without_a_namespace_a_command_before_the_reading_verb_is_refused() -> None:
    with pytest.raises(GuardError, match="'delete'"):
        assert_rag_only_tool_name("biomed_delete_get_entities")


def test_only_the_core_may_ingest() -> None:
    assert_rag_only_tool_name("core_ingest")
    assert_rag_only_tool_name("core_ingest", namespace="core")
    with pytest.raises(GuardError):
        assert_rag_only_tool_name("biomed_ingest", namespace="biomed")
    with pytest.raises(GuardError):
        assert_rag_only_tool_name("core_ingest_document", namespace="core")


def test_the_message_names_the_word_and_a_way_out() -> None:
    with pytest.raises(GuardError) as refused:
        assert_rag_only_tool_name("biomed_get_and_delete_terms", namespace="biomed")
    assert "'delete'" in refused.value.message
    assert "biomed_search_documents" in refused.value.message
    assert refused.value.code is ErrorCode.GUARD_REFUSED


def test_words_are_split_at_underscores_humps_and_digits() -> None:
    assert split_words("getSQLTable2_by-name") == ["get", "sql", "table", "2", "by", "name"]


def test_no_verb_both_reads_and_acts() -> None:
    assert not READING_VERBS & ACTING_VERBS


_words = st.lists(st.text(string.ascii_lowercase, min_size=1, max_size=8), max_size=3)


@given(before=_words, verb=st.sampled_from(sorted(ACTING_VERBS)), after=_words)
def test_an_acting_verb_is_refused_wherever_it_stands(
    before: list[str], verb: str, after: list[str]
) -> None:
    with pytest.raises(GuardError):
        assert_rag_only_tool_name(
            "_".join(["biomed_get", *before, verb, *after]), namespace="biomed"
        )


@given(st.text(st.characters(), max_size=80))
def test_no_name_breaks_the_guard(name: str) -> None:
    for namespace in (None, "pack"):
        for finding in guard.name_findings(f"pack_{name}", namespace=namespace):
            assert finding.message.startswith("Tool name ")


def test_words_of_endless_names_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "split_words", lambda name: pytest.fail("was read"))
    with pytest.raises(GuardError, match="100009 characters") as refused:
        assert_rag_only_tool_name("pack_get_" + "a" * 100_000, namespace="pack")
    assert len(refused.value.message) < 300
